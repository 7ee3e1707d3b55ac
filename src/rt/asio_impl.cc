// Boost.Asio's own code, compiled once (BOOST_ASIO_SEPARATE_COMPILATION) so that no other file has to.
#include <boost/asio/impl/src.hpp>
