import { defineConfig } from "vite";

// the address that the browser knows stays: tokens are for pages of the gateway's own origin
const gateway = { target: "http://127.0.0.1:8000", changeOrigin: false };

export default defineConfig(({ command }) => ({
  // built files refer to each other by relative addresses, so that the gateway can be mounted anywhere
  base: command === "build" ? "./" : "/demo/",
  build: {
    outDir: "../../gateway/demo/storefront",
    emptyOutDir: true,
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    // the page's policy allows no data: scripts, and a file of its own is cached for ever
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
  },
  // `npm run dev` works on the sources against a running `gateway dev`
  server: {
    proxy: { "/graphql": { ...gateway, ws: true }, "/sandbox": gateway, "/demo/config.json": gateway },
  },
}));
