// Settings of jemalloc, which the program links. jemalloc reads them before main.
//
// Freed memory is returned to the system after a second, even without further allocations, so the
// memory of a list of a hundred thousand objects or of a burst of writes is not kept. One arena per
// core is enough here and wastes less.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,narenas_ratio:1";
}
