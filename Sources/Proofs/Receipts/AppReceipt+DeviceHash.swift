extension AppReceipt {
    /// True if the receipt was issued for the device.
    ///
    /// - Parameter identifier: The `identifierForVendor` on iOS (16 bytes), or the primary network address on a Mac (6
    ///   bytes).
    public func isValid(forDevice identifier: [UInt8]) -> Bool {
        let hash = try? Self.deviceHash(
            identifier: identifier, opaqueValue: opaqueValue, bundleIdentifier: bundleIdentifier)
        return hash == deviceHash
    }

    /// The hash that binds a receipt to a device (Apple, "Validating receipts on the device"). It is the SHA-1 of the
    /// device's identifier, the opaque value and the encoded bundle identifier attribute.
    ///
    /// - Parameter identifier: The `identifierForVendor` on iOS (16 bytes), or the primary network address on a Mac (6
    ///   bytes).
    public static func deviceHash(
        identifier: [UInt8],
        opaqueValue: [UInt8],
        bundleIdentifier: String
    ) throws -> [UInt8] {
        let bundle = Array(try ReceiptAttribute.string(2, bundleIdentifier).value)
        return DigestAlgorithm.sha1.digest(of: identifier + opaqueValue + bundle)
    }
}
