import Ledger
import Proofs

/// Token buckets of client networks, nested: a request takes tokens of its host, and of each wider network.
///
/// The holder of a wide network has many hosts: 65,536 in an IPv6 /48. So the hosts of a network share a wider bucket, too.
package struct NetworkBuckets: Sendable {
    private let hosts: TokenBuckets
    private let subscribers: TokenBuckets
    private let sites: TokenBuckets

    /// - Parameters:
    ///   - rate: The rate of a host.
    ///   - share: The rate that no network exceeds, if any.
    package init(_ rate: TokenBuckets.Rate, atMost share: TokenBuckets.Rate? = nil, clock: any WallClock) {
        func buckets(_ extent: ClientNetwork.Extent) -> TokenBuckets {
            let rate = rate * extent.hosts
            return TokenBuckets(share.map(rate.limited) ?? rate, clock: clock)
        }
        (hosts, subscribers, sites) = (buckets(.host), buckets(.subscriber), buckets(.site))
    }

    package var rate: TokenBuckets.Rate { hosts.rate }

    private func buckets(of network: ClientNetwork) -> TokenBuckets {
        switch network.extent {
        case .host: hosts
        case .subscriber: subscribers
        case .site: sites
        }
    }

    /// Takes tokens of a network, all or none. A host at its own limit takes nothing from its site, and the other way round.
    ///
    /// - Parameter name: The subject for which networks are counted, such as a public key.
    /// - Returns: Nil if the tokens were available, otherwise the seconds until they are.
    package func take(_ count: Int = 1, from network: ClientNetwork, for name: String = "") -> Int? {
        let nested = network.nested
        for (index, wider) in nested.enumerated() {
            guard let seconds = buckets(of: wider).take(.init(name, in: wider), count) else { continue }
            giveBack(count, to: nested[..<index], for: name)
            return seconds
        }
        return nil
    }

    package func returnToken(from network: ClientNetwork, for name: String = "", times count: Int = 1) {
        giveBack(count, to: network.nested[...], for: name)
    }

    private func giveBack(_ count: Int, to networks: ArraySlice<ClientNetwork>, for name: String) {
        for network in networks { buckets(of: network).returnToken(.init(name, in: network), times: count) }
    }
}

extension ClientNetwork.Extent {
    /// The limit of a network of this size, in those of one host. A site often belongs to many customers of one provider.
    package var hosts: Int {
        switch self {
        case .host: 1
        case .subscriber: 4
        case .site: 16
        }
    }
}

/// A budget of tokens that strangers share. No network takes what the others need.
///
/// - One site has its share of the whole at most, and the networks inside it have less.
/// - A quarter of the whole is kept for the first tokens of each site in a day. So sites that have used none get some, when a few
///   sites have used up the rest.
package struct SharedBudget: Sendable {
    /// The share of one site in the whole, and the number of its first tokens.
    package struct Share: Sendable {
        let site: (count: Int, of: Int)
        let first: Int

        /// - Parameters:
        ///   - first: The first tokens of a site in a day.
        ///   - site: The part of the whole that one site has at most.
        package init(first: Int, site: (count: Int, of: Int) = (1, 4)) {
            (self.first, self.site) = (first, site)
        }
    }

    /// Taken tokens, which can be put back.
    package struct Taken: Sendable {
        fileprivate let count: Int
        /// The part of them that were first tokens of the site.
        fileprivate let first: Int
        fileprivate let isKept: Bool
    }

    package enum Answer: Sendable {
        case granted(Taken)
        case refused(seconds: Int)
    }

    /// The part of the whole that is kept for first tokens.
    private static let kept = (count: 1, of: 4)
    /// The kept tokens with which a process begins, in those of the same part of the common ones.
    private static let keptAtStart = 4

    private let common: TokenBuckets
    private let kept: TokenBuckets
    private let firstTokens: TokenBuckets
    private let networks: NetworkBuckets

    /// - Parameters:
    ///   - whole: The rate of all networks together.
    ///   - host: The rate of one host.
    package init(_ whole: TokenBuckets.Rate, host: TokenBuckets.Rate, _ share: Share, clock: any WallClock) {
        common = TokenBuckets(whole.part(Self.kept.of - Self.kept.count, of: Self.kept.of), clock: clock)
        let kept = whole.part(Self.kept.count, of: Self.kept.of)
        self.kept = TokenBuckets(kept.starting(with: kept.atStart * Self.keptAtStart), clock: clock)
        firstTokens = TokenBuckets(TokenBuckets.Rate(perDay: share.first, startingWithOnePartIn: 1), clock: clock)
        networks = NetworkBuckets(host, atMost: whole.part(share.site.count, of: share.site.of), clock: clock)
    }

    /// Takes tokens of a network, all or none.
    ///
    /// - Parameter name: The subject of the budget, such as an account; empty if there is only one budget.
    package func take(_ count: Int = 1, from network: ClientNetwork, for name: String = "") -> Answer {
        if let seconds = networks.take(count, from: network, for: name) { return .refused(seconds: seconds) }
        let site = TokenBuckets.Subject(name, in: network.site)
        guard let seconds = common.take(name, count) else {
            return .granted(Taken(count: count, first: firstTokens.drain(site, upTo: count), isKept: false))
        }
        if firstTokens.take(site, count) == nil {
            if kept.take(name, count) == nil { return .granted(Taken(count: count, first: count, isKept: true)) }
            firstTokens.returnToken(site, times: count)
        }
        networks.returnToken(from: network, for: name, times: count)
        return .refused(seconds: seconds)
    }

    package func giveBack(_ taken: Taken, from network: ClientNetwork, for name: String = "") {
        networks.returnToken(from: network, for: name, times: taken.count)
        (taken.isKept ? kept : common).returnToken(name, times: taken.count)
        firstTokens.returnToken(.init(name, in: network.site), times: taken.first)
    }

    /// True if no common token of a subject is missing.
    package func isUntouched(_ name: String) -> Bool { common.isFull(.init(name)) }
}
