"use strict";
(() => {
const report = document.getElementById("report") ? JSON.parse(document.getElementById("report").textContent) : [];
let context = null, latest = 0;
const show = async (number) => {
  const mine = ++latest;
  const state = document.documentElement.dataset;
  delete state.state;
  const facts = JSON.parse(document.getElementById(`facts${number || ""}`).textContent);
  const fail = (text) => {
    const p = document.createElement("p");
    p.textContent = text;
    document.body.append(p);
    document.documentElement.dataset.state = "failed";
  };
  const make = (tag, parent, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (name) node.className = name;
    parent.append(node);
    return node;
  };

  // The columns.
  const packed = Uint8Array.from(atob(document.getElementById(`data${number || ""}`).textContent), (c) => c.charCodeAt(0));
  let raw;
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    raw = await new Response(stream).arrayBuffer();
  } catch {
    return fail("This page needs a newer browser.");
  }
  if (mine !== latest) return;
  const types = { float32: Float32Array, float64: Float64Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int32: Int32Array };
  const data = {};
  for (const c of facts.columns) data[c.name] = new types[c.type](raw, c.at, c.length);
  // These are differences: each to the one before.
  for (const one of [data.steps, data.triangle]) for (let i = 1; i < one.length; i++) one[i] += one[i - 1];
  // Vertices lie on a fine grid: all x, all y, all z.
  const vertices = data.steps.length / 3;
  data.position = new Float32Array(data.steps.length);
  for (let k = 0; k < 3; k++)
    for (let v = 0; v < vertices; v++)
      data.position[3 * v + k] = facts.grid.low[k] + facts.grid.cell[k] * data.steps[k * vertices + v];

  // The page around the picture.
  document.body.style.background = facts.look.ground;
  document.body.style.color = facts.look.ink;
  document.getElementById("root")?.remove();
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  const root = make("div", document.body);
  root.id = "root";
  root.classList.toggle("report", report.length > 0);
  const canvas = make("canvas", root);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", facts.sentence || facts.title);
  const over = make("canvas", root);
  over.id = "texts";
  const gl = canvas.getContext("webgl2", { antialias: true });
  if (!gl) return fail("This page needs WebGL 2.");
  context = gl;
  const header = make("header", root);
  make("h1", header, facts.title);
  const hidden = new Set();
  for (const legend of facts.legends) {
    const row = make("div", header, undefined, "legend");
    if (legend.title) make("span", row, legend.title, "muted");
    if (legend.ramp) {
      const [first, last] = [legend.ramp.ticks[0], legend.ramp.ticks[legend.ramp.ticks.length - 1]];
      if (first) make("span", row, first[1]);
      const bar = make("span", row, undefined, "ramp");
      for (const color of legend.ramp.colors) make("span", bar).style.background = color;
      if (last && last !== first) make("span", row, last[1]);
    }
    for (const [text, color] of legend.entries) {
      const button = make("button", row);
      make("span", button, undefined, "swatch").style.background = color;
      make("span", button, text);
      button.title = "Click: only this colour; again: all";
      button.onclick = () => {
        hidden.has(color) ? hidden.delete(color) : hidden.add(color);
        button.classList.toggle("off", false);
        only = hidden.size ? new Set(hidden) : null;
        for (const b of header.querySelectorAll("button")) b.classList.toggle("off", !!only && !only.has(b.dataset.color));
        recolor();
      };
      button.dataset.color = color;
    }
  }
  if (facts.notes.length) {
    const foot = make("details", make("footer", root));
    make("summary", foot, "What is drawn, and what is left out");
    for (const note of facts.notes) make("div", foot, note, "muted");
  }
  const side = make("div", root);
  side.id = "side";
  if (report.length) {
    // All pictures of the report, and what is said of the one that is shown.
    const list = make("nav", side);
    report.forEach((one, k) => {
      const button = make("button", list, k ? `${k}  ${one.title}` : one.title);
      if (k === number) {
        button.className = "on";
        button.setAttribute("aria-current", "true");
        if (one.text && one.text !== `${one.title}.`) make("small", button, one.text);
      }
      button.onclick = () => { location.hash = k; };
    });
  }
  const list = make("div", side);
  list.id = "findings";
  // What is pointed out has the number that stands in the picture, too.
  const pins = facts.callouts.map((one, k) => {
    const [, number, text] = one.text.match(/^(\d+) (.*)$/) || [0, `${k + 1}`, one.text];
    return { ...one, number, text: text.trim() };
  });
  for (const one of pins) {
    const button = make("button", list);
    make("b", button, one.number).style.background = one.color;
    make("span", button, one.text);
    if (one.detail) make("small", button, one.detail);
    button.onclick = () => flyTo(one.point, start.distance * 0.25);
  }
  const search = make("input", side);
  search.type = "search";
  search.placeholder = "Search functions";
  const tip = make("div", root);
  tip.id = "tip";

  // Vectors.
  const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const sub = (a, b) => add(a, b, -1);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => { const l = Math.hypot(...a) || 1; return [a[0] / l, a[1] / l, a[2] / l]; };
  const turn = (v, axis, angle) => {
    const c = Math.cos(angle), s = Math.sin(angle), d = dot(axis, v) * (1 - c), x = cross(axis, v);
    return [v[0] * c + x[0] * s + axis[0] * d, v[1] * c + x[1] * s + axis[1] * d, v[2] * c + x[2] * s + axis[2] * d];
  };

  // The camera looks from `out` at `target`.
  const words = facts.camera;
  const middle = words.low.map((v, i) => (v + words.high[i]) / 2);
  const size = Math.hypot(...sub(words.high, words.low)) || 1;
  const tangent = 18 / words.lens;
  const view = { target: middle, out: unit(words.direction), distance: size, up: unit(words.up), flat: words.flat };
  let frame;
  const axes = () => {
    const forward = view.out.map((v) => -v);
    let right = cross(forward, view.up);
    if (Math.hypot(...right) < 1e-6) right = cross(forward, [0, 1, 0]);
    right = unit(right);
    return { right, up: cross(right, forward), forward };
  };
  const fit = () => {
    // Below the title and beside the list nothing of the data is hidden, and no name runs out of the picture.
    const wide = canvas.clientWidth, beside = pins.length + report.length && wide > 800 ? 290 : 0;
    const margins = [20, beside + 20];
    for (let i = 0; i < 4; i++) {
      within(...margins);
      frame = matrix();
      const xs = [0, wide - beside];
      for (const label of facts.labels) {
        if (label[5] >= 0) continue;
        const box = boxOf(label);
        if (box) { xs[0] = Math.min(xs[0], box.low[0]); xs[1] = Math.max(xs[1], box.high[0]); }
      }
      const out = [-xs[0], xs[1] - wide + beside];
      if (out[0] + out[1] < 2 || margins[0] + margins[1] > 0.7 * wide) break;
      for (const k of [0, 1]) margins[k] += out[k] && out[k] + 12;
    }
  };
  const within = (left, right_) => {
    const { right, up, forward } = axes();
    const wide = canvas.clientWidth, tall = canvas.clientHeight, aspect = tall / wide;
    const top = header.offsetHeight + 24, bottom = 44;
    const free = [Math.max(0.3, (wide - left - right_) / wide), Math.max(0.3, (tall - top - bottom) / tall)];
    let far = 0;
    for (let i = 0; i < 8; i++) {
      const p = sub([0, 1, 2].map((k) => (i >> k & 1 ? words.high[k] : words.low[k])), middle);
      const x = Math.abs(dot(p, right)) / free[0], y = Math.abs(dot(p, up)) / free[1] / aspect;
      far = Math.max(far, Math.max(x, y) / tangent - (view.flat ? 0 : dot(p, forward)));
    }
    view.distance = far;
    const unitOf = 2 * tangent * far / wide;
    view.target = add(add(middle, up, (top - bottom) / 2 * unitOf), right, (right_ - left) / 2 * unitOf);
  };

  // The scene.
  const shader = (kind, text) => {
    const made = gl.createShader(kind);
    gl.shaderSource(made, text);
    gl.compileShader(made);
    if (!gl.getShaderParameter(made, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(made));
    return made;
  };
  const FRAGMENT = `#version 300 es
precision highp float; precision highp int;
uniform bool picking, shaded; uniform vec3 key; uniform float hovered;
in vec3 place; in vec4 paint; flat in uint number; out vec4 color;
void main() {
  if (picking) { color = vec4(float(number & 255u), float(number >> 8 & 255u), float(number >> 16 & 255u), 255.0) / 255.0; return; }
  vec3 n = normalize(cross(dFdx(place), dFdy(place)));
  float light = shaded ? 0.72 + 0.28 * abs(dot(n, key)) : 1.0;
  vec3 c = paint.rgb * light;
  if (float(number) == hovered) c = mix(c, vec3(1.0, 0.75, 0.0), 0.6);
  color = vec4(c, 1.0);
}`;
  const program = (text) => {
    const made = gl.createProgram();
    gl.attachShader(made, shader(gl.VERTEX_SHADER, text));
    gl.attachShader(made, shader(gl.FRAGMENT_SHADER, FRAGMENT));
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
    const at = {};
    for (const name of ["matrix", "picking", "shaded", "key", "hovered", "eye"]) at[name] = gl.getUniformLocation(made, name);
    return { made, at };
  };
  const VARYINGS = "out vec3 place; out vec4 paint; flat out uint number; uniform mat4 matrix;";
  const boxes = program(`#version 300 es
in vec3 corner, low, size; in vec4 tint; in uint item; uniform vec3 eye; ${VARYINGS}
void main() { place = low + mix(1.0 - corner, corner, step(low + 0.5 * size, eye)) * size; paint = tint; number = item; gl_Position = matrix * vec4(place, 1.0); }`);
  const meshes = program(`#version 300 es
in vec3 low; in vec4 tint; in uint item; ${VARYINGS}
void main() { place = low; paint = tint; number = item; gl_Position = matrix * vec4(place, 1.0); }`);
  const buffer = (values, target = gl.ARRAY_BUFFER) => {
    const made = gl.createBuffer();
    gl.bindBuffer(target, made);
    gl.bufferData(target, values, gl.STATIC_DRAW);
    return made;
  };
  const attribute = (of, name, values, count, type, each) => {
    const at = gl.getAttribLocation(of.made, name), made = buffer(values);
    if (at < 0) return made;
    gl.enableVertexAttribArray(at);
    if (type === gl.UNSIGNED_INT) gl.vertexAttribIPointer(at, count, type, 0, 0);
    else gl.vertexAttribPointer(at, count, type, type === gl.UNSIGNED_BYTE, 0, 0);
    gl.vertexAttribDivisor(at, each);
    return made;
  };
  // Of six faces at most three are seen: those towards the eye, which the shader chooses.
  const CORNERS = [], q = [[4, 6, 7, 5], [2, 3, 7, 6], [1, 5, 7, 3]];
  for (const f of q) for (const k of [0, 1, 2, 0, 2, 3]) CORNERS.push(f[k] >> 2 & 1, f[k] >> 1 & 1, f[k] & 1);
  const count = data.box_item.length;
  // Items are numbered from 1: 0 is the ground.
  const numbers = (items) => items.map((i) => i + 1);
  const boxArray = gl.createVertexArray();
  gl.bindVertexArray(boxArray);
  attribute(boxes, "corner", new Float32Array(CORNERS), 3, gl.FLOAT, 0);
  attribute(boxes, "low", data.low, 3, gl.FLOAT, 1);
  attribute(boxes, "size", data.size, 3, gl.FLOAT, 1);
  attribute(boxes, "item", numbers(data.box_item), 1, gl.UNSIGNED_INT, 1);
  const boxTint = attribute(boxes, "tint", data.box_color, 4, gl.UNSIGNED_BYTE, 1);
  const meshArray = gl.createVertexArray();
  gl.bindVertexArray(meshArray);
  attribute(meshes, "low", data.position, 3, gl.FLOAT, 0);
  attribute(meshes, "item", numbers(data.item), 1, gl.UNSIGNED_INT, 0);
  const meshTint = attribute(meshes, "tint", data.color, 4, gl.UNSIGNED_BYTE, 0);
  buffer(data.triangle, gl.ELEMENT_ARRAY_BUFFER);
  gl.bindVertexArray(null);
  gl.enable(gl.DEPTH_TEST);
  // Colours next to each other at one depth: the later one is drawn over.
  gl.depthFunc(gl.LEQUAL);

  // What is lit: by the legend, or by a search.
  let only = null, found = null;
  const ground = [1, 3, 5].map((i) => parseInt(facts.look.ground.slice(i, i + 2), 16));
  const hex = (c, i) => "#" + [c[i], c[i + 1], c[i + 2]].map((v) => v.toString(16).padStart(2, "0")).join("");
  const repaint = (colors, items, made) => {
    let out = colors;
    if (only || found) {
      out = new Uint8Array(colors);
      for (let k = 0; k < items.length; k++) {
        const lit = found ? found.has(data.function[items[k]]) || found.has(data.other[items[k]]) : only.has(hex(colors, 4 * k));
        if (!lit) for (let c = 0; c < 3; c++) out[4 * k + c] = 0.12 * colors[4 * k + c] + 0.88 * (0.9 * ground[c] + 12);
      }
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.bufferData(gl.ARRAY_BUFFER, out, gl.STATIC_DRAW);
  };
  const recolor = () => {
    repaint(data.box_color, data.box_item, boxTint);
    repaint(data.color, data.item, meshTint);
    draw();
  };

  const matrix = () => {
    const { right, up, forward } = axes(), d = view.distance;
    const eye = add(view.target, view.out, view.flat ? 3 * size + d : d);
    const aspect = canvas.height / canvas.width;
    const near = view.flat ? 0.1 * size : Math.max(0.002 * d, 1e-4 * size), far = 8 * size + 2 * d;
    const w = tangent * (view.flat ? d : 1), h = w * aspect;
    const rows = [right.map((v) => v / w), up.map((v) => v / h)];
    const z = view.flat ? [2 / (far - near), -(far + near) / (far - near)] : [(far + near) / (far - near), -2 * far * near / (far - near)];
    const m = new Float32Array(16), put = (row, v, c) => { for (let k = 0; k < 3; k++) m[4 * k + row] = v[k]; m[12 + row] = c - dot(v, eye); };
    put(0, rows[0], 0);
    put(1, rows[1], 0);
    put(2, forward.map((v) => v * z[0]), z[1]);
    if (view.flat) m[15] = 1;
    else put(3, forward, 0);
    return { m, eye, w, forward, right, up };
  };
  const project = (p) => {
    const m = frame.m, w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
    if (w <= 0) return null;
    const x = (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w, y = (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w;
    return [(x + 1) / 2 * canvas.clientWidth, (1 - y) / 2 * canvas.clientHeight];
  };
  let hovered = -1;
  const paint = (picking) => {
    gl.viewport(0, 0, canvas.width, canvas.height);
    const c = picking ? [0, 0, 0] : ground.map((v) => v / 255);
    gl.clearColor(c[0], c[1], c[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const key = unit(add(add(frame.up, frame.right, -0.5), frame.forward, -1.2));
    for (const [of, array] of [[boxes, boxArray], [meshes, meshArray]]) {
      gl.useProgram(of.made);
      gl.uniformMatrix4fv(of.at.matrix, false, frame.m);
      gl.uniform1i(of.at.picking, picking);
      gl.uniform1i(of.at.shaded, facts.look.shaded);
      gl.uniform3fv(of.at.key, key);
      gl.uniform1f(of.at.hovered, hovered + 1);
      // Without perspective all is seen from one direction.
      gl.uniform3fv(of.at.eye, view.flat ? view.out.map((v) => v * 1e6 * size) : frame.eye);
      gl.bindVertexArray(array);
      if (of === boxes) gl.drawArraysInstanced(gl.TRIANGLES, 0, 18, count);
      else gl.drawElements(gl.TRIANGLES, data.triangle.length, gl.UNSIGNED_INT, 0);
    }
  };
  const target = gl.createFramebuffer(), ids = gl.createRenderbuffer(), depths = gl.createRenderbuffer();
  const pick = (x, y) => {
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    const scale = canvas.width / canvas.clientWidth, px = Math.floor(x * scale), py = canvas.height - 1 - Math.floor(y * scale);
    gl.disable(gl.DITHER);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(px, py, 1, 1);
    paint(true);
    const pixel = new Uint8Array(4);
    gl.readPixels(px, py, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return pixel[0] + 256 * pixel[1] + 65536 * pixel[2] - 1;
  };
  const resize = () => {
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    for (const one of [canvas, over]) { one.width = canvas.clientWidth * scale; one.height = canvas.clientHeight * scale; }
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    for (const [made, format, place] of [[ids, gl.RGBA8, gl.COLOR_ATTACHMENT0], [depths, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, made);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, canvas.width, canvas.height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, made);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    draw();
  };

  // Texts: rulers, then names, the most important first; none covers another.
  const pen = over.getContext("2d");
  const INKS = [facts.look.ink, "#0b0c0f", "#ffffff"];
  // Where a name stands: null if it can't be read or is out of the picture.
  const boxOf = ([text, x, y, z, height, room, , , plane], top = 0) => {
    const anchor = [x, y, z], p = project(anchor);
    if (!p || p[0] < -50 || p[1] < top || p[0] > over.clientWidth + 50 || p[1] > over.clientHeight) return null;
    const r = project(add(anchor, plane.slice(1, 4), height)), u = project(add(anchor, plane.slice(4, 7), height));
    if (!r || !u) return null;
    let [rx, ry, ux, uy] = [r[0] - p[0], r[1] - p[1], p[0] - u[0], p[1] - u[1]];
    // A name beside the data is never too small to be read; one on it is as large as it.
    const tall = Math.hypot(ux, uy), larger = room < 0 && tall > 2 ? Math.max(1, 14 / tall) : 1;
    [rx, ry, ux, uy] = [rx * larger, ry * larger, ux * larger, uy * larger];
    if (larger * tall < 8.5 || Math.hypot(rx, ry) < 3) return null;
    // In the plane of the text, whose line is 100 high.
    pen.font = "74px system-ui, sans-serif";
    let said = text, width = pen.measureText(said).width;
    if (room >= 0 && width > 100 * room / height) {
      const keep = Math.floor(said.length * (100 * room / height) / width) - 1;
      if (keep < 3) return null;
      said = said.slice(0, keep) + "…";
      width = pen.measureText(said).width;
    }
    const begin = plane[0] < 0 ? 0 : plane[0] > 0 ? -width : -width / 2;
    const at = (a, b) => [p[0] + (a * rx + b * ux) / 100, p[1] + (a * ry + b * uy) / 100];
    const corners = [at(begin, -50), at(begin + width, -50), at(begin, 50), at(begin + width, 50)];
    const xs = corners.map((c) => c[0]), ys = corners.map((c) => c[1]);
    return {
      said, begin, plane: [rx / 100, ry / 100, ux / 100, uy / 100, p[0], p[1]],
      low: [Math.min(...xs), Math.min(...ys)], high: [Math.max(...xs), Math.max(...ys)],
    };
  };
  // Of each name: where it stands, its height, and of how many pixels that has to be.
  const spots = Float64Array.from(facts.labels.flatMap(([, x, y, z, height, room]) => [x, y, z, height, room < 0 ? 2 : 8]));
  const texts = () => {
    const scale = over.width / over.clientWidth;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, over.clientWidth, over.clientHeight);
    const taken = [], top = header.offsetHeight + 14;
    const free = (x0, y0, x1, y1) => {
      if (x0 < 0 || y0 < top || x1 > over.clientWidth || y1 > over.clientHeight) return false;
      for (const t of taken) if (x0 < t[2] && x1 > t[0] && y0 < t[3] && y1 > t[1]) return false;
      taken.push([x0, y0, x1, y1]);
      return true;
    };
    pen.textBaseline = "middle";
    pen.font = "12px system-ui, sans-serif";
    for (const axis of facts.axes) {
      const point = (at, off = 0) => project(add(add(axis.origin, axis.direction, at), axis.outward, off));
      const a = point(0), b = point(axis.length);
      if (!a || !b || Math.hypot(a[0] - b[0], a[1] - b[1]) < 40) continue;
      pen.strokeStyle = pen.fillStyle = facts.look.muted;
      pen.beginPath();
      pen.moveTo(...a);
      pen.lineTo(...b);
      for (const [at] of axis.ticks) {
        const p = point(at), o = point(at, 0.3 * axis.height);
        if (p && o) { pen.moveTo(...p); pen.lineTo(...o); }
      }
      pen.stroke();
      pen.textAlign = "center";
      for (const [at, text] of axis.ticks) {
        const p = point(at, axis.height);
        if (!p) continue;
        const w = pen.measureText(text).width / 2;
        if (free(p[0] - w - 4, p[1] - 7, p[0] + w + 4, p[1] + 7)) pen.fillText(text, ...p);
      }
      const p = point(axis.length / 2, 2.4 * axis.height);
      if (p && axis.title) {
        const w = pen.measureText(axis.title).width / 2;
        if (free(p[0] - w, p[1] - 7, p[0] + w, p[1] + 7)) pen.fillText(axis.title, ...p);
      }
    }
    // Numbers of what is pointed out: hidden ones, too, because they are to be found.
    pen.textAlign = "center";
    for (const one of pins) {
      const p = project(one.point);
      if (!p || !free(p[0] - 11, p[1] - 11, p[0] + 11, p[1] + 11)) continue;
      pen.beginPath();
      pen.arc(p[0], p[1], 9, 0, 2 * Math.PI);
      pen.fillStyle = one.color;
      pen.strokeStyle = "#ffffff";
      pen.lineWidth = 2;
      pen.fill();
      // What is only inferred has a dashed edge.
      pen.setLineDash(one.inferred ? [3, 3] : []);
      pen.stroke();
      pen.setLineDash([]);
      pen.lineWidth = 1;
      pen.fillStyle = "#ffffff";
      pen.fillText(one.number, p[0], p[1] + 1);
    }
    let shown = 0;
    pen.textAlign = "left";
    const m = frame.m, wide = over.clientWidth, tall = over.clientHeight;
    for (let i = 0; i < facts.labels.length && shown < 500; i++) {
      // Most are too small or out of the picture, which is seen without anything being made.
      const k = 5 * i, x = spots[k], y = spots[k + 1], z = spots[k + 2];
      const w = m[3] * x + m[7] * y + m[11] * z + m[15];
      if (w <= 0 || spots[k + 3] * wide / (2 * frame.w * w) < spots[k + 4]) continue;
      const right = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w, up = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
      if (Math.abs(right) > 1 + 100 / wide || up < -1 || up > 1 - 2 * top / tall) continue;
      const label = facts.labels[i], box = boxOf(label, top);
      if (!box || !free(...box.low, ...box.high)) continue;
      pen.save();
      pen.transform(...box.plane);
      pen.fillStyle = INKS[label[7]];
      pen.fillText(box.said, box.begin, 4);
      pen.restore();
      shown++;
    }
    state.labels = shown;
  };

  let asked = false;
  const draw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      frame = matrix();
      paint(false);
      texts();
    });
  };

  // Moving about.
  let flying = 0;
  const flyTo = (point, distance) => {
    const from = { target: view.target, distance: view.distance }, began = performance.now(), mine = ++flying;
    const step = (now) => {
      if (mine !== flying) return;
      const t = Math.min((now - began) / 700, 1), s = t * t * (3 - 2 * t);
      view.target = add(from.target, sub(point, from.target), s);
      view.distance = from.distance * (distance / from.distance) ** s;
      draw();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  };
  const duration = (ns) => {
    for (const [unit, of] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) if (ns >= of) return `${+(ns / of).toPrecision(3)} ${unit}`;
    return `${Math.round(ns)} ns`;
  };
  const describe = (i) => {
    const letter = (s) => (facts.traces.length > 1 ? `${String.fromCharCode(65 + s)}  ` : "");
    const name = data.function[i] >= 0 ? facts.names[data.function[i]] : "", other = data.other[i] >= 0 ? facts.names[data.other[i]] : "";
    const title = name ? letter(data.source[i]) + name : facts.kinds[data.kind[i]];
    const rows = [];
    if (other) rows.push(`matches ${other}`);
    if (data.count[i] > 1) rows.push(`${data.count[i].toLocaleString("en")} calls, of which this is the longest`);
    if (data.lasts[i] >= 0) rows.push(`${duration(data.lasts[i])}${other ? ` and ${duration(data.other_lasts[i])}` : ""}, from ${duration(data.start[i])} on`);
    return [title, rows];
  };
  const tell = (x, y) => {
    const item = pick(x, y), known = item >= 0 && item < data.kind.length;
    canvas.dataset.item = known ? item : "";
    if ((known ? item : -1) !== hovered) { hovered = known ? item : -1; draw(); }
    tip.style.display = known ? "block" : "none";
    if (!known) return;
    const [title, rows] = describe(item);
    tip.replaceChildren();
    make("b", tip, title);
    for (const row of rows) make("div", tip, row);
    tip.style.left = `${Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(y + 14, canvas.clientHeight - tip.offsetHeight - 8)}px`;
  };
  const home = { ...view };
  let last = null;
  canvas.onpointerdown = (e) => { last = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); flying++; };
  canvas.onpointerup = () => { last = null; };
  canvas.onpointermove = (e) => {
    if (!last) { if (frame) tell(e.clientX, e.clientY); return; }
    const dx = e.clientX - last[0], dy = e.clientY - last[1];
    last = [e.clientX, e.clientY];
    tip.style.display = "none";
    const { right, up } = axes(), unitOf = 2 * tangent * view.distance / canvas.clientWidth;
    if (e.buttons === 1 && !e.shiftKey && !view.flat) {
      view.out = unit(turn(view.out, view.up, -dx * 0.006));
      const lifted = unit(turn(view.out, right, -dy * 0.006));
      if (Math.abs(dot(lifted, view.up)) < 0.995) view.out = lifted;
    } else view.target = add(add(view.target, right, -dx * unitOf), up, dy * unitOf);
    draw();
  };
  canvas.oncontextmenu = (e) => e.preventDefault();
  canvas.onwheel = (e) => {
    e.preventDefault();
    flying++;
    const by = Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300)));
    // What is under the mouse stays there.
    const { right, up } = axes(), unitOf = 2 * tangent * view.distance / canvas.clientWidth * (1 - by);
    view.target = add(add(view.target, right, (e.clientX - canvas.clientWidth / 2) * unitOf), up, -(e.clientY - canvas.clientHeight / 2) * unitOf);
    view.distance *= by;
    draw();
  };
  canvas.ondblclick = (e) => {
    const item = pick(e.clientX, e.clientY), k = data.box_item.indexOf(item);
    if (k >= 0) flyTo([0, 1, 2].map((c) => data.low[3 * k + c] + data.size[3 * k + c] / 2), Math.max(data.size[3 * k] / tangent, 0.02 * start.distance));
  };
  const reset = () => { Object.assign(view, home); fit(); draw(); };
  window.onkeydown = (e) => {
    if (e.target === search) return;
    const { right, up, forward } = axes(), step = 0.06 * view.distance;
    const ways = { w: [forward, 1], s: [forward, -1], a: [right, -1], d: [right, 1], q: [up, -1], e: [up, 1] };
    if (ways[e.key]) { view.target = add(view.target, ways[e.key][0], ways[e.key][1] * step); flying++; draw(); }
    if (e.key === "Home" || e.key === "Escape") reset();
    const next = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }[e.key];
    if (next && report.length) location.hash = (number + next + report.length) % report.length;
    if (e.key === "/") { e.preventDefault(); search.focus(); }
  };
  let match = -1;
  search.oninput = () => {
    const text = search.value.toLowerCase();
    found = text ? new Set(facts.names.flatMap((name, i) => (name.toLowerCase().includes(text) ? [i] : []))) : null;
    match = -1;
    state.found = found ? found.size : "";
    recolor();
  };
  search.onkeydown = (e) => {
    if (e.key === "Escape") { search.value = ""; search.oninput(); search.blur(); }
    if (e.key !== "Enter" || !found) return;
    for (let n = 1; n <= count; n++) {
      const k = (match + n) % count;
      if (!found.has(data.function[data.box_item[k]])) continue;
      match = k;
      flyTo([0, 1, 2].map((c) => data.low[3 * k + c] + data.size[3 * k + c] / 2), Math.max(3 * data.size[3 * k], 0.1 * start.distance));
      return;
    }
  };
  window.onresize = resize;
  resize();
  fit();
  const start = { ...view };
  draw();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    state.boxes = count;
    state.error = gl.getError();
    state.state = "ready";
  }));
  window.tracevis3d = { view, draw, project };
};
// A link may name the picture: report.html#2.
const named = () => Math.min(Math.max(parseInt(location.hash.slice(1), 10) || 0, 0), Math.max(report.length - 1, 0));
window.onhashchange = () => show(named());
show(named());
})();
