/// What a row of sums tells apart besides app, origin and currency. The raw value is its number in the ledger.
enum FigureBreakdown: Int, CaseIterable {
    case all = 0
    case product = 1
    case storefront = 2
}
