import { defineTool } from '@runwire/agency';
import { z } from 'zod';

export const ExampleTool = defineTool({
  name: 'ExampleTool',
  description: 'Looks up how many copies of a book are in stock.',
  inputSchema: z.object({ title: z.string().describe('The title of the book.') }),
  execute: ({ title }) => `${title.length % 4} copies of ${title}`,
});
