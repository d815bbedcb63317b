// Signed in or not, and which page.
import { useEffect, useRef, useState } from "react";
import { Provider } from "urql";
import { BasketPage } from "./BasketPage";
import { Catalogue } from "./Catalogue";
import { createClient } from "./client";
import { useTenantColours } from "./colours";
import type { Config } from "./config";
import { Header } from "./Header";
import { OrderPage } from "./OrderPage";
import { Orders } from "./Orders";
import { Notice } from "./Notice";
import { type Route, to, useRoute } from "./route";
import { type Session, session } from "./session";
import { SignIn } from "./SignIn";
import { useStored } from "./store";

export function App({ config }: { config: Config }) {
  const who = useStored(session);
  useTenantColours(config, who?.tenant ?? "");
  if (!who) return <SignIn config={config} />;
  return <Desk key={`${who.tenant} ${who.role}`} config={config} who={who} />;
}

function Desk({ config, who }: { config: Config; who: Session }) {
  const [client] = useState(() => createClient(config));
  const route = useRoute();
  const main = useFocusOnPage(route);
  return (
    <Provider value={client}>
      <a className="skip" href="#main" onClick={(event) => skip(event, main.current)}>
        Skip to the content
      </a>
      <Header config={config} who={who} page={route.path[0] ?? "orders"} />
      <main id="main" ref={main} tabIndex={-1}>
        <Page route={route} />
      </main>
    </Provider>
  );
}

function Page({ route }: { route: Route }) {
  const [page = "orders", name] = route.path;
  const depth = route.path.length;
  if (page === "orders" && name && depth === 2) return <OrderPage key={name} orderId={name} />;
  if (page === "orders" && depth < 2) return <Orders query={route.query} />;
  if (page === "catalogue" && depth <= 2) return <Catalogue chosen={name} query={route.query} />;
  if (page === "basket" && depth === 1) return <BasketPage />;
  return <NoSuchPage />;
}

function NoSuchPage() {
  return (
    <Notice kind="warn" title="There is no such page.">
      <p>
        <a href={to(["orders"])}>Go to the orders</a>
      </p>
    </Notice>
  );
}

/** Another page is read from its start, by eyes and by screen readers alike. */
function useFocusOnPage(route: Route) {
  const main = useRef<HTMLElement>(null);
  const page = route.path.join("/");
  const before = useRef(page);
  useEffect(() => {
    if (before.current === page) return;
    before.current = page;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [page]);
  return main;
}

function skip(event: React.MouseEvent, main: HTMLElement | null): void {
  // the part behind # is the page that is shown
  event.preventDefault();
  main?.focus();
}
