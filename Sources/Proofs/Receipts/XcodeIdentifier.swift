/// The identifiers of the transactions of StoreKit testing in Xcode.
///
/// Xcode counts them from 0 in each simulator, and again after each reset. So a transaction of Xcode is its identifier with the
/// second of the purchase and the certificate of the Mac: `0-1790000000-1a2b3c4d5e6f7081`.
enum XcodeIdentifier {
    /// The number of bytes of the certificate's SHA-256 in an identifier.
    private static let digestLength = 8

    /// - Parameters:
    ///   - stated: The identifier that Xcode states.
    ///   - purchaseDate: Only its second counts, because app receipts state no fraction.
    ///   - certificate: The SHA-256 of the signer's certificate.
    static func identifier(_ stated: String, purchasedAt purchaseDate: Timestamp, certificate: [UInt8]) -> String {
        "\(stated)-\(purchaseDate.secondsSince1970)-\(certificate.prefix(digestLength).hexadecimal)"
    }

    /// The identifier that Xcode states.
    fileprivate static func stated(_ identifier: String) -> String {
        let parts = identifier.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 2, parts.last?.utf8.count == 2 * digestLength else { return identifier }
        // The second of a purchase before 1970 has a hyphen of its own.
        let isBefore1970 = parts[parts.count - 3].isEmpty
        return parts.dropLast(isBefore1970 ? 3 : 2).joined(separator: "-")
    }
}

extension Origin {
    /// The identifier by which an app knows a transaction.
    public func statedIdentifier(_ identifier: String) -> String {
        self == .xcode ? XcodeIdentifier.stated(identifier) : identifier
    }
}
