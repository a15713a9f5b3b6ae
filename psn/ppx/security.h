// CURVE: encrypted connections between sides that know each other's keys. Keys are Z85 texts of 40
// characters, made by `psn keys` or zmq_curve_keypair.
#pragma once

#include <string>
#include <vector>

namespace psn::ppx {

struct KeyPair {
  std::string public_key, secret_key;
};

KeyPair make_key_pair();

// The connecting side. Empty server key: no encryption.
struct ClientKeys {
  std::string server_key;  // the other side's public key
  KeyPair own;             // empty: made up for the occasion
};

// The side that waits. Empty pair: no encryption.
struct ServerKeys {
  KeyPair own;
  std::vector<std::string> clients;  // public keys that may connect; empty: all
};

}  // namespace psn::ppx
