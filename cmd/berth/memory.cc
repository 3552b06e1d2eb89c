// How jemalloc, which the program links, is to behave; read by it before main.
//
// What is freed goes back to the system after a second, also when nobody asks for memory any more:
// a list of a hundred thousand objects, or a burst of writes, does not stay on the books. As many
// arenas as cores are enough here and waste less.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,narenas_ratio:1";
}
