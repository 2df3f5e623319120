import Proofs

/// The app, origin, product and storefront of a sum.
package struct FigureSubject: Hashable, Sendable {
    /// The number of the app in the ledger.
    package let app: Int64
    package let origin: Origin
    package let product: ByteKey
    /// The ISO 3166-1 code of three letters; empty if none was stated.
    package let storefront: ByteKey

    /// The longest product identifier in a key, in bytes. Longer ones do not fit into a database key.
    static let maximumProductLength = 255

    /// - Parameter storefront: The stated storefront. A text other than three capital letters is ignored.
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
