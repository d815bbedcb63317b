// Signed in or not, and which page.
import { useEffect, useRef, useState } from "react";
import { Provider } from "urql";
import { BasketPage } from "./BasketPage";
import { Catalogue } from "./Catalogue";
import { createClient } from "./client";
import { useTenantColours } from "./colours";
import { type Config, isCustomer } from "./config";
import { Header } from "./Header";
import { OrderPage } from "./OrderPage";
import { MyOrders } from "./MyOrders";
import { Orders } from "./Orders";
import { Notice } from "./Notice";
import { Profile } from "./Profile";
import { type Route, to, useRoute } from "./route";
import { type Session, session } from "./session";
import { SignIn } from "./SignIn";
import { useStored } from "./store";

export function App({ config }: { config: Config }) {
  const who = useStored(session);
  useTenantColours(config, who?.tenant ?? "");
  if (!who) return <SignIn config={config} />;
  return <Desk key={`${who.tenant} ${who.role} ${who.subject ?? ""}`} config={config} who={who} />;
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
        {isCustomer(config, who.role) ? <CustomerPage route={route} /> : <Page route={route} />}
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

/** The pages of a customer, who has no desk: each asks for what is the customer's own, or for the catalogue. */
function CustomerPage({ route }: { route: Route }) {
  const [page = "orders", name] = route.path;
  const depth = route.path.length;
  if (page === "orders" && depth < 2) return <MyOrders query={route.query} />;
  if (page === "catalogue" && depth <= 2) return <Catalogue chosen={name} query={route.query} forCustomers />;
  if (page === "basket" && depth === 1) return <BasketPage forCustomers />;
  if (page === "profile" && depth === 1) return <Profile />;
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
