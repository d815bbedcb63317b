// A hue for each tenant, so that one look tells whose data this is.
import { useEffect } from "react";

const HUES = [217, 158, 28, 280, 340, 190, 48, 255];

export function hueOf(tenant: string, known: string[] = []): number {
  const place = known.indexOf(tenant);
  if (place >= 0) return HUES[place % HUES.length] ?? 217;
  let sum = 0;
  for (const letter of tenant) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
  return sum;
}

export function useColours(tenant: string, role: string, hue: number): void {
  useEffect(() => {
    document.documentElement.style.setProperty("--hue", String(hue));
    document.title = tenant ? `${tenant} · ${role} · Playground` : "Playground";
    const square = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="hsl(${hue} 75% 48%)"/></svg>`;
    document.querySelector("link[rel=icon]")?.setAttribute("href", `data:image/svg+xml,${encodeURIComponent(square)}`);
  }, [tenant, role, hue]);
}
