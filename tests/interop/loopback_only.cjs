// Preloaded into the reference child and whatever Node it starts: a connection that leaves this machine is
// refused, and each place that is asked for gets a line in the file that INTEROP_PLACES names.
"use strict";

const dgram = require("node:dgram");
const dns = require("node:dns");
const fs = require("node:fs");
const net = require("node:net");

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

function note(place) {
  fs.appendFileSync(process.env.INTEROP_PLACES, place + "\n");
}

function refuse(place) {
  throw new Error("this machine is not left in tests: " + place);
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const [first] = Array.isArray(given[0]) ? given[0] : given;
  const options = typeof first === "object" ? first : { port: first, host: given[1] };
  if (options.path === undefined) {
    const host = typeof options.host === "string" ? options.host : "localhost";
    note(host + ":" + options.port);
    if (!LOOPBACK.has(host)) refuse(host);
  }
  return connect.apply(this, given);
};

const lookup = dns.lookup;
dns.lookup = function (host, ...rest) {
  if (!LOOPBACK.has(host)) {
    note(host + ":name");
    refuse(host);
  }
  return lookup.call(this, host, ...rest);
};

dgram.Socket.prototype.send = function () {
  note("udp");
  refuse("udp");
};
