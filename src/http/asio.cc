// Asio's implementation, compiled once. All other files see declarations only.
#include <boost/asio/impl/src.hpp>
