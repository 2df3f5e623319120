import Commerce
import Entitlements
import HTTPSupport
import Hummingbird

/// The bytes that public callers may write in a day for customers without a purchase: attributes, log-ins and refused purchases.
///
/// Anybody with an app's public key can invent customers, who would fill the disk of the ledger. A customer with a purchase is not
/// limited: the App Store vouches for the purchase.
struct NewcomerBudget: Sendable {
    private let service: TokenBuckets
    private let addresses: AddressBuckets

    init(_ limits: RequestLimits, clock: any WallClock) {
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

extension DoorServices {
    /// The allowance of a client's address for customers without a purchase; nil for no limit.
    func newcomers(for request: Request, _ context: ServiceContext) -> NewcomerAllowance? {
        guard let newcomers else { return nil }
        let address = context.clientAddress(of: request)
        let isAlmostFull = context.isStorageAlmostFull
        return NewcomerAllowance { isAlmostFull ? 60 : newcomers.take($0, from: address) }
    }
}
