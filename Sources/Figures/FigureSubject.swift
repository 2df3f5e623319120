import Commerce

/// The app, origin, product and storefront that a sum is of.
package struct FigureSubject: Hashable, Sendable {
    /// The number that stands for the bundle identifier in the ledger.
    package let app: Int64
    package let origin: Origin
    package let product: ByteKey
    /// ISO 3166-1, three letters; empty if none was stated.
    package let storefront: ByteKey

    /// The longest product identifier that is told apart, in bytes: longer ones are no key of a database.
    static let maximumProductLength = 255

    /// - Parameter storefront: As it was stated; another text than three capital letters is none.
    package init(app: Int64, origin: Origin, product: String, storefront: String?) {
        self.app = app
        self.origin = origin
        self.product = product.utf8.count <= Self.maximumProductLength ? ByteKey(product) : ""
        self.storefront = storefront.flatMap(Self.code) ?? ""
    }

    /// A code of three capital letters.
    ///
    /// - Returns: Nil for another text.
    static func code(_ text: String) -> ByteKey? {
        text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            ? ByteKey(text) : nil
    }
}
