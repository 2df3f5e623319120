/// The ranges of public and special-purpose IP addresses (IANA's registries of special-purpose addresses, RFC 6890).
///
/// The check prevents server-side request forgery: a webhook must not reach addresses that only the service can reach.
package enum AddressRange {
    /// Returns true if an address belongs to the public network.
    ///
    /// - Parameter address: 4 or 16 bytes. Other sizes are not public.
    package static func isPublic(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !privateRanges.contains { $0.contains(address) }
        // All global unicast addresses begin with these three bits.
        case 16 where address[0] & 0xE0 == 0x20: !privateRangesOfVersion6.contains { $0.contains(address) }
        default: false
        }
    }

    private struct Range {
        let prefix: [UInt8]
        let bits: Int

        init(_ prefix: [UInt8], _ bits: Int) {
            self.prefix = prefix
            self.bits = bits
        }

        func contains(_ address: [UInt8]) -> Bool {
            for (index, byte) in prefix.enumerated() {
                let left = min(8, bits - index * 8)
                guard left > 0 else { break }
                let mask = UInt8(truncatingIfNeeded: 0xFF00 >> left)
                if address[index] & mask != byte & mask { return false }
            }
            return true
        }
    }

    private static let privateRanges = [
        Range([0], 8), Range([10], 8), Range([100, 64], 10), Range([127], 8), Range([169, 254], 16),
        Range([172, 16], 12), Range([192, 0, 0], 24), Range([192, 0, 2], 24), Range([192, 88, 99], 24),
        Range([192, 168], 16), Range([198, 18], 15), Range([198, 51, 100], 24), Range([203, 0, 113], 24),
        // Multicast and reserved addresses.
        Range([224], 4), Range([240], 4),
    ]

    /// The ranges for transition (6to4, Teredo), documentation and tests.
    private static let privateRangesOfVersion6 = [
        Range([0x20, 0x01, 0x00], 23), Range([0x20, 0x01, 0x0D, 0xB8], 32), Range([0x20, 0x02], 16),
        Range([0x3F, 0xFF, 0x00], 20),
    ]
}
