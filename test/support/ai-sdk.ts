import { registerHooks } from 'node:module';

// `-C runwire` is meant for our own packages; a dependency of the AI SDK has an export of that name too, in TypeScript,
// which Node does not run below node_modules.
registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!context.parentURL?.includes('/node_modules/')) return nextResolve(specifier, context);
    return nextResolve(specifier, { ...context, conditions: context.conditions.filter((name) => name !== 'source') });
  },
});

export const { jsonSchema, tool } = await import('ai');
