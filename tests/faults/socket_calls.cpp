// Calls about sockets and names of machines.
#include "tests/faults/counted_call.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

FAILS("socket", -1, int, socket, (int domain, int type, int protocol), domain, type, protocol)
FAILS("setsockopt", -1, int, setsockopt, (int file, int level, int option, const void* value, socklen_t size),
      file, level, option, value, size)
FAILS("bind", -1, int, bind, (int file, const sockaddr* address, socklen_t size), file, address, size)
FAILS("listen", -1, int, listen, (int file, int most), file, most)
FAILS("accept", -1, int, accept, (int file, sockaddr* address, socklen_t* size), file, address, size)
FAILS("accept", -1, int, accept4, (int file, sockaddr* address, socklen_t* size, int flags), file, address,
      size, flags)
FAILS("connect", -1, int, connect, (int file, const sockaddr* address, socklen_t size), file, address, size)
MOVES("send", send, (int file, const void* data, size_t size, int flags), size, file, data, size, flags)
FAILS("sendmsg", -1, ssize_t, sendmsg, (int file, const msghdr* message, int flags), file, message, flags)
MOVES("recv", recv, (int file, void* data, size_t size, int flags), size, file, data, size, flags)
FAILS("poll", -1, int, poll, (pollfd * files, nfds_t count, int wait), files, count, wait)
FAILS("getaddrinfo", EAI_SYSTEM, int, getaddrinfo,
      (const char* node, const char* service, const addrinfo* hints, addrinfo** found), node, service, hints,
      found)
FAILS("getsockname", -1, int, getsockname, (int file, sockaddr* address, socklen_t* size), file, address,
      size)
FAILS("socketpair", -1, int, socketpair, (int domain, int type, int protocol, int files[2]), domain, type,
      protocol, files)
