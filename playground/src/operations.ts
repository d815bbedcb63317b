// What a document asks for.
import { Kind, type OperationDefinitionNode, parse } from "graphql";

/** The operations of a document; none where it cannot be read. */
export function operationsOf(text: string): OperationDefinitionNode[] {
  try {
    const { definitions } = parse(text, { noLocation: true });
    return definitions.filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  } catch {
    return [];
  }
}

/** Whether running it can change nothing, whichever of its operations is meant. */
export function onlyReads(text: string): boolean {
  const operations = operationsOf(text);
  return operations.length > 0 && operations.every((each) => each.operation === "query");
}
