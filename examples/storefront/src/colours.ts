// A hue for each tenant, so that one look tells whose shop this is.
import { useEffect } from "react";
import type { Config } from "./config";

// of oklch, where one lightness is equally legible in every hue
const HUES = [262, 160, 52, 310, 15, 210];

export function hueOf(config: Config, tenant: string): number {
  const place = config.tenants.findIndex((each) => each.name === tenant);
  return HUES[Math.max(place, 0) % HUES.length] ?? 262;
}

export function useTenantColours(config: Config, tenant: string): void {
  useEffect(() => {
    const hue = hueOf(config, tenant);
    document.documentElement.style.setProperty("--hue", String(hue));
    const title = config.tenants.find((each) => each.name === tenant)?.title;
    document.title = title ? `${title} · Order desk` : "Order desk";
    const square = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="oklch(0.58 0.16 ${hue})"/></svg>`;
    document.querySelector("link[rel=icon]")?.setAttribute("href", `data:image/svg+xml,${encodeURIComponent(square)}`);
  }, [config, tenant]);
}
