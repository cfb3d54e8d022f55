// Reads a trace with Perfetto's own engine (its WebAssembly build) and prints how long that took, and how long a query takes.
// usage: node perfetto_engine.js trace_processor.wasm trace.json [SQL]
"use strict";
const fs = require("fs");

const [wasmPath, tracePath, sql] = process.argv.slice(2);
const PIECE = 16 << 20;
const ENOSYS = 52;
let memory;

const view = () => new DataView(memory.buffer);

function writeOut(fd, vector, count, written) {
  let total = 0;
  for (let k = 0; k < count; k++) total += view().getUint32(vector + 8 * k + 4, true);
  view().setUint32(written, total, true);
  return 0;
}

const known = {
  emscripten_get_now: () => performance.now(),
  emscripten_date_now: () => Date.now(),
  emscripten_get_heap_max: () => 0xffff0000,
  emscripten_resize_heap: (size) => {
    const pages = Math.ceil(((size >>> 0) - memory.buffer.byteLength) / 65536);
    try {
      // In larger steps than asked for, as Emscripten does.
      memory.grow(Math.max(pages, Math.min(2048, 65535 - memory.buffer.byteLength / 65536)));
    } catch (error) {
      return 0;
    }
    return 1;
  },
  clock_time_get: (id, precision, at) => {
    view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
    return 0;
  },
  environ_sizes_get: (count, size) => {
    view().setUint32(count, 0, true);
    view().setUint32(size, 0, true);
    return 0;
  },
  environ_get: () => 0,
  fd_write: writeOut,
  _abort_js: () => { throw new Error("the engine aborted"); },
  __assert_fail: () => { throw new Error("the engine failed an assertion"); },
};

const module_ = new WebAssembly.Module(fs.readFileSync(wasmPath));
const imports = {};
for (const { module: space, name } of WebAssembly.Module.imports(module_)) {
  (imports[space] ??= {})[name] = known[name] ?? (() => -ENOSYS);
}
const engine = new WebAssembly.Instance(module_, imports).exports;
memory = engine.memory;
engine.emscripten_stack_init();
engine.__wasm_call_ctors();

// A function of ours as an entry of the engine's table: (i32, i32) -> ().
const thunk = new WebAssembly.Module(Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 2, 127, 127, 0, 2, 7, 1, 1, 101, 1, 102, 0, 0, 7, 5, 1, 1, 102, 0, 0,
]));
let reply = new Uint8Array(0);
const onReply = (at, size) => { reply = new Uint8Array(memory.buffer.slice(at >>> 0, (at >>> 0) + size)); };
const table = engine.__indirect_function_table;
const slot = table.grow(1);
table.set(slot, new WebAssembly.Instance(thunk, { e: { f: onReply } }).exports.f);
const buffer = engine.trace_processor_rpc_init(slot, 2 * PIECE) >>> 0;

function varint(value) {
  const bytes = [];
  while (value > 127) { bytes.push((value & 127) | 128); value = Math.floor(value / 128); }
  bytes.push(value);
  return bytes;
}
const field = (number, payload) => Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(payload.length)]), payload]);
const number = (id, value) => Buffer.from([...varint(id * 8), ...varint(value)]);

let sequence = 0;
function request(method, payload = Buffer.alloc(0)) {
  const message = Buffer.concat([number(1, ++sequence), number(2, method), payload]);
  const framed = field(1, message);
  new Uint8Array(memory.buffer).set(framed, buffer);
  engine.trace_processor_on_rpc_request(framed.length);
}

function fields(bytes) {
  const found = {};
  let i = 0;
  const read = () => { let v = 0, m = 1, b; do { b = bytes[i++]; v += (b & 127) * m; m *= 128; } while (b & 128); return v; };
  while (i < bytes.length) {
    const key = read();
    if ((key & 7) === 2) { const n = read(); found[key >>> 3] = bytes.subarray(i, i + n); i += n; }
    else if ((key & 7) === 0) found[key >>> 3] = read();
    else throw new Error("unexpected reply");
  }
  return found;
}

const trace = fs.readFileSync(tracePath);
const before = memory.buffer.byteLength;
const start = performance.now();
const spent = process.cpuUsage();
for (let at = 0; at < trace.length; at += PIECE) request(1, field(101, trace.subarray(at, at + PIECE)));
request(2);
const seconds = (performance.now() - start) / 1000;
const used = process.cpuUsage(spent);
const cpu = (used.user + used.system) / 1e6;
request(3, field(103, field(1, Buffer.from("select count(*) from slice"))));
const cells = fields(fields(fields(fields(reply)[1])[203])[3])[2];
let calls = 0;
for (let k = 0, m = 1; k < cells.length; k++, m *= 128) calls += (cells[k] & 127) * m;
const asked = performance.now();
if (sql) request(3, field(103, field(1, Buffer.from(sql))));
const query = (performance.now() - asked) / 1000;
console.log(JSON.stringify({ seconds, cpu, calls, query, bytes: memory.buffer.byteLength - before }));
