import Proofs

/// Token buckets of client addresses. A holder of an IPv6 site has 65,536 networks of 64 bits, so the networks of one site share a
/// wider bucket, too.
package struct AddressBuckets: Sendable {
    /// The tokens of a site, in those of one of its networks.
    package static let networksPerSite = 16

    private let networks: TokenBuckets
    private let sites: TokenBuckets

    /// - Parameter rate: The rate of one address; of IPv6, of one network of 64 bits.
    package init(_ rate: TokenBuckets.Rate, clock: any WallClock) {
        networks = TokenBuckets(rate, clock: clock)
        sites = TokenBuckets(rate * Self.networksPerSite, clock: clock)
    }

    /// The rate of one address.
    package var rate: TokenBuckets.Rate { networks.rate }

    /// Takes tokens of an address. An address at its own limit takes nothing from the other networks of its site.
    ///
    /// - Parameters:
    ///   - address: The address that identifies a client (`ClientAddresses`).
    ///   - subject: The subject for which the addresses are counted, such as a public key.
    /// - Returns: Nil if the tokens were available, otherwise the seconds until they are.
    package func take(_ count: Int = 1, from address: String, for subject: String = "") -> Int? {
        if let seconds = networks.take("\(subject) \(address)", count) { return seconds }
        guard let site = ClientAddresses.site(of: address) else { return nil }
        guard let seconds = sites.take("\(subject) \(site)", count) else { return nil }
        networks.returnTokens("\(subject) \(address)", count)
        return seconds
    }
}
