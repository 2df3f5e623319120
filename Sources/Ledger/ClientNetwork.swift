/// The network of a client, by which the limits on strangers count: an IPv4 address, or the first 64 bits of an IPv6 address. It is
/// inside wider networks, its `nested` ones.
///
/// One device uses any address of a /64. A customer of a provider has a /56 or a /48 (RFC 6177 section 2), and whoever asks for it a /48.
/// IPv4 addresses are rented by the /24, the smallest network that the internet routes.
package struct ClientNetwork: Hashable, Sendable, CustomStringConvertible {
    /// The size of a network, narrowest first.
    package enum Extent: Int, CaseIterable, Sendable {
        /// An IPv4 address, or an IPv6 /64.
        case host
        /// An IPv6 /56.
        case subscriber
        /// An IPv4 /24, or an IPv6 /48.
        case site
    }

    private enum Family: UInt8 {
        case none, version4, version6
    }

    /// The network of clients without an address, as within the process.
    package static let unknown = ClientNetwork(family: .none, bits: 0, extent: .host)

    private let family: Family
    /// The first 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
    private let bits: UInt64
    package let extent: Extent

    private init(family: Family, bits: UInt64, extent: Extent) {
        self.family = family
        self.extent = extent
        let width = family == .version4 ? 32 : 64
        let length = Self.length(of: extent, in: family)
        self.bits = bits & ~((1 << UInt64(width - length)) - 1)
    }

    /// The bits of a prefix.
    private static func length(of extent: Extent, in family: Family) -> Int {
        switch (family, extent) {
        case (.version4, .host): 32
        case (.version4, _): 24
        case (_, .host): 64
        case (_, .subscriber): 56
        case (_, .site): 48
        }
    }

    /// - Parameter address: The four or sixteen bytes of an address. Any other number is unknown.
    package init(address: [UInt8]) {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        if let version4 = address.count == 4 ? address[...] : Self.embedded(in: address) {
            self.init(family: .version4, bits: number(version4), extent: .host)
        } else if address.count == 16 {
            self.init(family: .version6, bits: number(address.prefix(8)), extent: .host)
        } else {
            self = .unknown
        }
    }

    /// The IPv4 address that an IPv6 address stands for: mapped (RFC 4291 section 2.5.5.2), of NAT64 (RFC 6052 section 2.1), or of 6to4
    /// (RFC 3056 section 2), which makes a /48 of each IPv4 address.
    private static func embedded(in address: [UInt8]) -> ArraySlice<UInt8>? {
        guard address.count == 16 else { return nil }
        if address.starts(with: [0x20, 0x02]) { return address[2..<6] }
        let isMapped = address.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        let isTranslated = address.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0])
        return isMapped || isTranslated ? address[12...] : nil
    }

    /// The network and the wider ones around it, narrowest first.
    package var nested: [ClientNetwork] {
        var networks = [self]
        if family == .version6, extent == .host {
            networks.append(ClientNetwork(family: family, bits: bits, extent: .subscriber))
        }
        if family != .none, extent != .site { networks.append(site) }
        return networks
    }

    /// The widest network.
    package var site: ClientNetwork {
        family == .none ? self : ClientNetwork(family: family, bits: bits, extent: .site)
    }

    /// True if a network is this one or inside it.
    package func contains(_ network: ClientNetwork) -> Bool {
        extent.rawValue >= network.extent.rawValue
            && ClientNetwork(family: network.family, bits: network.bits, extent: extent) == self
    }

    /// The address of an IPv4 host, and otherwise the prefix with its length; empty for unknown clients.
    package var description: String {
        switch family {
        case .none: return ""
        case .version4:
            let address = stride(from: 24, through: 0, by: -8).map { String(bits >> UInt64($0) & 0xFF) }
            return address.joined(separator: ".") + (extent == .host ? "" : "/24")
        case .version6:
            let groups = stride(from: 48, through: 0, by: -16).map { String(bits >> UInt64($0) & 0xFFFF, radix: 16) }
            return groups.joined(separator: ":") + "::/\(Self.length(of: extent, in: family))"
        }
    }
}
