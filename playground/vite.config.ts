import { defineConfig } from "vite";

// the address that the browser knows stays: tokens are for pages of the gateway's own origin
const gateway = { target: "http://127.0.0.1:8000", changeOrigin: false };

export default defineConfig(({ command }) => ({
  // built files refer to each other by relative addresses, so that the gateway can be mounted anywhere
  base: command === "build" ? "./" : "/playground/",
  build: {
    outDir: "../gateway/graph/playground/built",
    emptyOutDir: true,
    target: "es2022",
    // the page's policy allows no data: scripts, and a file of its own is cached for ever
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
    chunkSizeWarningLimit: 5_000,
    rolldownOptions: {
      onwarn(warning, tell) {
        // "use client" means something to servers that render React, and this page has none
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") tell(warning);
      },
    },
  },
  // `npm run dev` works on the sources against a running `gateway dev`
  server: {
    proxy: { "/graphql": gateway, "/sandbox": gateway, "/playground/config.json": gateway },
  },
}));
