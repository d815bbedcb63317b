// Amounts travel as decimal text and are added as whole numbers: a float would lose cents.

const DIGITS = 4;

export function amount(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const value = BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, "0"));
  return text.startsWith("-") ? -value : value;
}

export function times(text: string, quantity: number): bigint {
  return amount(text) * BigInt(quantity);
}

export function money(value: string | bigint, currency: string): string {
  const number = Number(typeof value === "string" ? amount(value) : value) / 10 ** DIGITS;
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(number);
}
