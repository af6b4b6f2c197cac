// tilecruncher: the program behind "Open the sample". It cuts a height map into tiles on several named
// threads, and one of them believes a cache that has already dropped the tile next door.
#include "codec.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "report.h"

namespace {

using tile::Tile;

// A queue between two stages of the pipeline.
template <typename T>
class Channel {
public:
    void push(T item) {
        std::lock_guard<std::mutex> lock(mutex_);
        items_.push_back(std::move(item));
        ready_.notify_one();
    }
    T pop() {
        std::unique_lock<std::mutex> lock(mutex_);
        ready_.wait(lock, [this] { return !items_.empty(); });
        T item = std::move(items_.front());
        items_.pop_front();
        return item;
    }

private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<T> items_;
};

struct Key {
    int column, row;
    bool operator<(const Key& o) const { return column != o.column ? column < o.column : row < o.row; }
};

// Keeps the newest tiles; find answers null for one that it no longer has.
class TileCache {
public:
    void put(Key key, std::shared_ptr<Tile> t) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (tiles_.size() >= 4) tiles_.erase(tiles_.begin());
        tiles_[key] = std::move(t);
    }
    const Tile* find(Key key) const {
        std::lock_guard<std::mutex> lock(mutex_);
        auto it = tiles_.find(key);
        return it == tiles_.end() ? nullptr : it->second.get();
    }

private:
    mutable std::mutex mutex_;
    std::map<Key, std::shared_ptr<Tile>> tiles_;
};

std::shared_ptr<Tile> make_tile(Key key, std::uint32_t size) {
    auto t = std::make_shared<Tile>();
    t->name = "tile " + std::to_string(key.column) + "," + std::to_string(key.row);
    for (unsigned n = 0; n < t->levels.size(); n++, size /= 2) {
        auto& level = t->levels[n];
        level.width = level.height = size;
        level.samples.resize(std::size_t(size) * size);
        std::uint32_t noise = 1u + unsigned(key.row);
        for (auto& s : level.samples) s = std::uint16_t((noise = noise * 1664525u + 1013904223u) >> 20);
    }
    return t;
}

// A named thread with a stack of the size that the recursion in the codec needs, which std::thread cannot set.
class Worker {
public:
    Worker(const char* name, std::function<void()> body) : body_(std::move(body)) {
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, 256 * 1024);
        pthread_create(&thread_, &attr, &Worker::enter, this);
        pthread_setname_np(thread_, name);
        pthread_attr_destroy(&attr);
    }
    void join() { pthread_join(thread_, nullptr); }

private:
    static void* enter(void* self) {
        static_cast<Worker*>(self)->body_();
        return nullptr;
    }

    std::function<void()> body_;
    pthread_t thread_;
};

class Pipeline {
public:
    explicit Pipeline(int sink) : sink_(sink) {}

    void start() {
        spawn("encode-0", [this] { encode_forever(); });
        spawn("write", [this] { write_finished(); });
        spawn("index", [this] { index_finished(); });
        spawn("watchdog", [this] { watch(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        spawn("stitch-1", [this] { stitch_rows(); });
    }
    void join() {
        for (auto& worker : workers_) worker->join();
    }

private:
    void spawn(const char* name, std::function<void()> body) {
        workers_.push_back(std::make_unique<Worker>(name, std::move(body)));
    }

    void encode_forever() {
        auto t = make_tile({0, 0}, 1024);
        while (!stop_) bits_ += tile::encode_quadtree(t->level(0), {0, 0, 1024}, 0);
    }

    // The sink is a pipe that nobody reads: it fills, and the thread stands in write.
    void write_finished() {
        std::vector<std::uint8_t> page(4096, 0x5a);
        while (!stop_ && ::write(sink_, page.data(), page.size()) > 0) pages_++;
    }

    void index_finished() {
        while (!stop_) indexed_[finished_.pop()]++;
    }

    void watch() {
        for (auto last = bits_.load(); !stop_; last = bits_.load()) {
            std::this_thread::sleep_for(std::chrono::seconds(30));
            if (last == bits_.load()) stop_ = true;
        }
    }

    void stitch_rows() {
        for (int row = 0; row < 8; row++) {
            for (int column = 0; column < 2; column++) cache_.put({column, row}, make_tile({column, row}, 64));
            stitch(row, [this](const Tile& a, const Tile& b) { bits_ += tile::blend_edges(a, b, 1); });
        }
    }

    // Each tile is joined to the one above. The cache holds four, so the one above is not always there.
    template <typename Join>
    void stitch(int row, Join&& join_tiles) {
        for (int column = 0; column < 2 && row > 0; column++) {
            const Tile* here = cache_.find({column, row});
            const Tile* above = cache_.find({column, row - 1});
            if (here) join_tiles(*here, *above);
        }
    }

    int sink_;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> bits_{0};
    std::uint64_t pages_ = 0;
    std::map<std::string, int> indexed_;
    Channel<std::string> finished_;
    TileCache cache_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

int main() {
    report_crashes_to(3, 4);
    int ends[2];
    if (pipe(ends) != 0) return 1;
    Pipeline pipeline(ends[1]);
    pipeline.start();
    pipeline.join();
    return 0;
}
