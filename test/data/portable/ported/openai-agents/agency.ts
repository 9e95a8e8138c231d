import { defineAgency, defineAgent, defineTool, handOff } from '@runwire/agency';
import { z } from 'zod';

const recipeOfTheDay = defineTool({
  name: 'recipe_of_the_day',
  description: 'Returns the recipe of the day for a season.',
  inputSchema: z.object({
    season: z.string().describe('spring, summer, autumn or winter'),
  }),
  execute: async ({ season }) => {
    return season === 'summer' ? 'Cold tomato soup' : 'Lentils with lemon';
  },
});

const cookAgent = defineAgent({
  name: 'Cook',
  instructions:
    'You help people cook. Ask for allergies before you recommend a dish, and name the minutes that it takes.',
  description: 'Specialist for recipes and cooking',
  tools: [recipeOfTheDay],
});

const gardenAgent = defineAgent({
  name: 'Gardener',
  instructions:
    'You help people grow vegetables. Ask where they live, and say in which month to sow and to harvest.',
  description: 'Specialist for growing vegetables',
});

const triageAgent = defineAgent({
  name: 'Triage Agent',
  instructions:
    "You decide which specialist answers the user's question about food: the cook or the gardener.",
});

export default defineAgency({
  name: 'Food',
  agents: [triageAgent, cookAgent, gardenAgent],
  entryPoints: [triageAgent],
  flows: [handOff(triageAgent, cookAgent), handOff(triageAgent, gardenAgent)],
});
