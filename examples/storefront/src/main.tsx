import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { loadConfig } from "./config";
import { resume } from "./session";
import "./style.css";

const root = createRoot(document.getElementById("root") as HTMLElement);

try {
  const config = await loadConfig();
  await resume(config);
  root.render(
    <StrictMode>
      <App config={config} />
    </StrictMode>,
  );
} catch (error) {
  root.render(
    <p className="waiting" role="alert">
      The shop does not open: {error instanceof Error ? error.message : String(error)}.
    </p>,
  );
}
