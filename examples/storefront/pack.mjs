// After the build: assets are kept compressed, and a manifest tells which sources the files were made from.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const sources = dirname(fileURLToPath(import.meta.url));
const built = join(sources, "../../gateway/demo/storefront");
// what is installed, what codegen writes, and what is only read by people
const notSources = /^(node_modules|src\/gql)\/|\.md$/;

const sha256 = (content) => createHash("sha256").update(content).digest("hex");

function filesUnder(folder, leftOut) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(folder, path).split(sep).join("/"))
    .filter((name) => !leftOut?.test(name))
    .sort((one, other) => (one < other ? -1 : 1));
}

function hashes(folder, leftOut) {
  return Object.fromEntries(filesUnder(folder, leftOut).map((name) => [name, sha256(readFileSync(join(folder, name)))]));
}

// tests/demo/test_storefront_build.py computes the same without Node
const lines = Object.entries(hashes(sources, notSources)).map(([name, hash]) => `${name} ${hash}\n`);
const manifest = { sources: sha256(lines.join("")), files: hashes(built) };

for (const name of Object.keys(manifest.files).filter((each) => each.startsWith("assets/"))) {
  const path = join(built, name);
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  rmSync(path);
}
writeFileSync(join(built, "manifest.json"), JSON.stringify(manifest, null, 2) + "\n");
