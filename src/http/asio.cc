// Asio's own code, compiled once: everybody else sees declarations only.
#include <boost/asio/impl/src.hpp>
