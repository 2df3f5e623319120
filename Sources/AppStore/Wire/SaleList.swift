/// The sales to an account.
package struct SaleList: Codable, Sendable {
    package let transactions: [SaleResource]
}
