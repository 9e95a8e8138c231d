/** How a plot shows its values. */
export interface PlotStyle {
  /** Bars that are stacked, because the values of a day add up. Otherwise lines. */
  readonly isStacked: boolean;
  /** For the legend and the values of a day. */
  readonly format: (value: number) => string;
  /** Short, for the axis. */
  readonly formatAxis: (value: number) => string;
  /** For what a bar stands for; a day unless it is given. */
  readonly formatSlot?: (slot: string) => string;
  readonly formatSlotAxis?: (slot: string) => string;
}

/** The position of the bars in the plot, in pixels of CSS. */
export interface PlotArea {
  readonly left: number;
  readonly width: number;
}
