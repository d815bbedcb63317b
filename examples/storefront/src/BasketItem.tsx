// One product of the basket: how many, and how many there are.
import { useState } from "react";
import { type Line, remove, setQuantity } from "./basket";
import type { Product } from "./BasketPage";
import { money, times } from "./money";
import { Picture } from "./Picture";
import { Stock } from "./Stock";

export function BasketItem({ line, product }: { line: Line; product: Product | undefined }) {
  const available = product?.stock?.available ?? 0;
  const tooMany = available < line.quantity;
  return (
    <li className={tooMany ? "short" : undefined}>
      <Picture name={line.productId} />
      <div className="what">
        <strong>{product?.title ?? line.productId}</strong>
        {product && <span className="dim">{money(product.price, product.currency)} each</span>}
        {product ? <Stock available={available} /> : <span className="stock none">No longer sold</span>}
      </div>
      <Quantity line={line} title={product?.title ?? line.productId} />
      <strong className="number">{product && money(times(product.price, line.quantity), product.currency)}</strong>
      <button type="button" className="quiet" aria-label={`Take ${product?.title ?? line.productId} out`} onClick={() => remove(line.productId)}>
        ✕
      </button>
      {tooMany && product && (
        <p className="remedy" role="alert">
          {available === 0 ? "None is left." : `You asked for ${line.quantity}, and ${available} ${available === 1 ? "is" : "are"} left.`}{" "}
          <button
            type="button"
            className="link"
            onClick={() => (available === 0 ? remove(line.productId) : setQuantity(line.productId, available))}
          >
            {available === 0 ? "Take it out" : `Order ${available}`}
          </button>
        </p>
      )}
    </li>
  );
}

/** What is typed stays as it is until the field is left; only a number counts. */
function Quantity({ line, title }: { line: Line; title: string }) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <label className="quantity">
      <span className="unseen">Quantity of {title}</span>
      <input
        type="number"
        min={1}
        max={999}
        value={typed ?? line.quantity}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.valueAsNumber >= 1) setQuantity(line.productId, target.valueAsNumber);
        }}
        onBlur={() => setTyped(null)}
      />
    </label>
  );
}
