import Proofs

/// A product that the store of a data directory does not sell.
struct UnknownProduct: CodedError {
    /// The number of products that a message lists.
    private static let maximumListed = 20

    let identifier: String
    /// The identifiers of the products that it sells.
    let products: [String]

    var code: String { "productNotFound" }

    var message: String {
        let listed = products.prefix(Self.maximumListed).joined(separator: ", ")
        let others = products.count > Self.maximumListed ? " and \(products.count - Self.maximumListed) more" : ""
        return "The store sells no product \"\(identifier.prefix(100))\"."
            + Suggestion.sentence(for: identifier, among: products)
            + (products.isEmpty ? "" : " It sells \(listed)\(others).")
    }
}
