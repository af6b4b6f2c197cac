// libtilecodec.so: the part of tilecruncher that does the arithmetic.
#include "codec.h"

namespace tile {
namespace {

template <typename Fn>
inline void each_sample(const Level& level, Area area, Fn&& fn) {
    // Of a big area every n-th sample is enough: its quarters are looked at again.
    const std::uint32_t step = area.size > 16 ? area.size / 16 : 1;
    for (std::uint32_t y = area.y; y < area.y + area.size; y += step)
        for (std::uint32_t x = area.x; x < area.x + area.size; x += step)
            fn(level.samples[std::size_t(y) * level.width + x]);
}

struct Range {
    std::uint16_t low = 0xffff, high = 0;
    void add(std::uint16_t v) {
        if (v < low) low = v;
        if (v > high) high = v;
    }
    unsigned spread() const { return high < low ? 0u : unsigned(high - low); }
};

Range measure(const Level& level, Area area) {
    Range range;
    each_sample(level, area, [&](std::uint16_t v) { range.add(v); });
    return range;
}

// The row of the neighbour's picture that touches ours.
inline std::uint32_t edge_offset(const Tile& neighbour, unsigned level) {
    return neighbour.width(level) * (neighbour.level(level).height - 1);
}

}  // namespace

std::uint64_t encode_quadtree(const Level& level, Area area, unsigned depth) {
    const Range range = measure(level, area);
    if (range.spread() < 2 || area.size <= 4)
        return 16 + std::uint64_t(area.size) * area.size * (range.spread() ? 2 : 0);
    const std::uint32_t half = area.size / 2;
    std::uint64_t bits = 1;
    bits += encode_quadtree(level, {area.x, area.y, half}, depth + 1);
    bits += encode_quadtree(level, {area.x + half, area.y, half}, depth + 1);
    bits += encode_quadtree(level, {area.x, area.y + half, half}, depth + 1);
    bits += encode_quadtree(level, {area.x + half, area.y + half, half}, depth + 1);
    return bits;
}

std::uint64_t blend_edges(const Tile& tile, const Tile& neighbour, unsigned level) {
    const std::uint32_t offset = edge_offset(neighbour, level);
    std::uint64_t sum = 0;
    for (std::uint32_t x = 0; x < tile.width(level); x++)
        sum += neighbour.level(level).samples[offset + x] ^ tile.level(level).samples[x];
    return sum;
}

}  // namespace tile
