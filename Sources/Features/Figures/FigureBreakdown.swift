/// The dimension of a row of sums, besides app, origin and currency. The raw value is the number in the ledger.
enum FigureBreakdown: Int, CaseIterable {
    case all = 0
    case product = 1
    case storefront = 2
}
