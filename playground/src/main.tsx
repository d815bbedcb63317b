import "graphiql/setup-workers/vite";
import "graphiql/style.css";
import "@graphiql/plugin-explorer/style.css";
import "./style.css";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { loadConfig } from "./config";
import { become, firstChoice } from "./identity";

async function start(root: HTMLElement): Promise<void> {
  try {
    const config = await loadConfig();
    if (config.sandbox) await become(config.sandbox, firstChoice(config.sandbox));
    root.replaceChildren();
    createRoot(root).render(<App config={config} />);
  } catch (error) {
    const words = document.createElement("p");
    words.className = "waiting";
    words.textContent = `The playground cannot start: ${error instanceof Error ? error.message : error}`;
    root.replaceChildren(words);
  }
}

const root = document.getElementById("root");
if (root) void start(root);
