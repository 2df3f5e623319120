import Hummingbird
import Ledger
import Proofs

/// The bytes that strangers may write in a day for users without a purchase: accounts, attributes, profiles, kept answers, log-ins and
/// refused purchases.
///
/// Anybody with an app's public key can invent customers, and anybody can sign up. They would fill the disk of the ledger. A user
/// with a purchase is not limited: the App Store vouches for the purchase.
package struct NewcomerBudget: Sendable {
    private let service: TokenBuckets
    private let addresses: AddressBuckets

    package init(_ limits: RequestLimits, clock: any WallClock) {
        service = TokenBuckets(.init(perDay: limits.newcomerBytesPerDay), clock: clock)
        addresses = AddressBuckets(.init(perDay: limits.newcomerBytesPerAddress), clock: clock)
    }

    /// Takes bytes for a client address, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    fileprivate func take(_ bytes: Int, from address: String) -> Int? {
        if let seconds = service.take("", bytes) { return seconds }
        guard let seconds = addresses.take(bytes, from: address) else { return nil }
        service.returnTokens("", bytes)
        return seconds
    }
}

extension ServiceContext {
    /// The allowance of a client's address for users without a purchase; nil for no limit.
    ///
    /// Back ends have no limit, nor has the app of a user whose token the team has issued.
    package func newcomers(for request: Request) -> NewcomerAllowance? {
        guard let newcomers = sharedLimits?.newcomers else { return nil }
        switch caller {
        case .backEnd: return nil
        case .app(let user, _) where user.issuer != User.accountIssuer: return nil
        case .app, .publicApp, nil: break
        }
        let address = clientAddress(of: request)
        let isAlmostFull = isStorageAlmostFull
        return NewcomerAllowance { isAlmostFull ? 60 : newcomers.take($0, from: address) }
    }
}
