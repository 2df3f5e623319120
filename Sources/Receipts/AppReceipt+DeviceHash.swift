import Signatures

extension AppReceipt {
    /// Whether the receipt was made for a device.
    ///
    /// - Parameter identifier: `identifierForVendor` on iOS, 16 bytes; the primary network address on a Mac, 6 bytes.
    public func isMade(forDevice identifier: [UInt8]) -> Bool {
        let hash = try? Self.deviceHash(
            identifier: identifier, opaqueValue: opaqueValue, bundleIdentifier: bundleIdentifier)
        return hash == deviceHash
    }

    /// The hash that ties a receipt to a device: SHA-1 over the device's identifier, the opaque value and the bundle
    /// identifier as its attribute holds it (Apple, "Validating receipts on the device").
    ///
    /// - Parameter identifier: `identifierForVendor` on iOS, 16 bytes; the primary network address on a Mac, 6 bytes.
    public static func deviceHash(
        identifier: [UInt8],
        opaqueValue: [UInt8],
        bundleIdentifier: String
    ) throws -> [UInt8] {
        let bundle = Array(try ReceiptAttribute.string(2, bundleIdentifier).value)
        return DigestAlgorithm.sha1.digest(of: identifier + opaqueValue + bundle)
    }
}
