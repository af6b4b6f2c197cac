// Interface of libtilecodec.so: tiles of a height map, coded as quadtrees.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tile {

struct Level {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint16_t> samples;
};

// A tile with its pyramid: level 0 is the full picture, each further level has half its width and height.
struct Tile {
    std::string name;
    std::uint64_t stamp = 0;
    std::array<Level, 4> levels;

    const Level& level(unsigned n) const { return levels[n & 3]; }
    std::uint32_t width(unsigned n) const { return level(n).width; }
};

struct Area {
    std::uint32_t x, y, size;
};

// Codes the area as a quadtree and returns its cost in bits. Recurses once a level of the tree.
std::uint64_t encode_quadtree(const Level& level, Area area, unsigned depth);

// Joins the neighbour's edge to the tile's own, so that no seam shows.
std::uint64_t blend_edges(const Tile& tile, const Tile& neighbour, unsigned level);

}  // namespace tile
