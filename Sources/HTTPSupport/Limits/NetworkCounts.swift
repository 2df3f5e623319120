import Ledger

/// The things under way of each client network, such as connections or bytes, with a limit for each host and each site.
package struct NetworkCounts: Sendable {
    /// The limit of one host.
    package var ofHost: Int
    /// The limit of one site, at least that of a host.
    package var ofSite: Int
    private var counts: [ClientNetwork: Int] = [:]

    package init(ofHost: Int, ofSite: Int) {
        (self.ofHost, self.ofSite) = (ofHost, max(ofHost, ofSite))
    }

    /// - Parameter whole: The limit of all together. A site has a quarter of it.
    package init(ofHost: Int, of whole: Int) {
        self.init(ofHost: ofHost, ofSite: whole / 4)
    }

    private func limit(of extent: ClientNetwork.Extent) -> Int {
        switch extent {
        case .host: ofHost
        case .subscriber: max(ofHost, ofSite / 2)
        case .site: ofSite
        }
    }

    /// The number of things of a network.
    package subscript(network: ClientNetwork) -> Int { counts[network] ?? 0 }

    /// The narrowest network around one that has no place for more.
    package func full(around network: ClientNetwork, for count: Int = 1) -> ClientNetwork? {
        network.nested.first { self[$0] + count > limit(of: $0.extent) }
    }

    package mutating func add(_ count: Int = 1, of network: ClientNetwork) {
        for wider in network.nested { counts[wider, default: 0] += count }
    }

    package mutating func remove(_ count: Int = 1, of network: ClientNetwork) {
        for wider in network.nested {
            let left = self[wider] - count
            counts[wider] = left > 0 ? left : nil
        }
    }
}
