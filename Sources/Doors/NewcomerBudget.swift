import Commerce
import Entitlements
import HTTPSupport
import Hummingbird

/// The bytes that public callers may write in a day for customers without a purchase.
///
/// Anybody with an app's public key can invent customers, who would fill the disk of the ledger. A customer with a purchase is not
/// limited: the App Store vouches for the purchase.
struct NewcomerBudget: Sendable {
    /// The bytes that a new customer takes in the ledger: the name, the account token and the audit log.
    static let bytesOfCustomer = 1024

    private let service: TokenBuckets
    private let addresses: AddressBuckets

    init(_ limits: RequestLimits, clock: any WallClock) {
        service = TokenBuckets(.init(perDay: limits.newcomerBytesPerDay), clock: clock)
        addresses = AddressBuckets(.init(perDay: limits.newcomerBytesPerAddress), clock: clock)
    }

    /// Takes bytes for a client address, all or none.
    ///
    /// - Returns: False if today's bytes are used up.
    func take(_ bytes: Int, from address: String) -> Bool {
        guard service.take("", bytes) == nil else { return false }
        if addresses.take(bytes, from: address) == nil { return true }
        service.returnTokens("", bytes)
        return false
    }
}

extension DoorServices {
    /// Takes the bytes that a caller writes for a customer.
    ///
    /// - Parameter ids: The ids of the customer. If one of them has a purchase, the customer is not limited.
    /// - Returns: False if nothing may be written for the customer today.
    func mayWrite(_ bytes: Int, for ids: [User], from address: String) async throws -> Bool {
        guard let newcomers else { return true }
        let hasPurchases = try await entitlements.ledger.read { transaction in
            try ids.contains { try transaction.hasPurchases($0) }
        }
        return hasPurchases || newcomers.take(bytes, from: address)
    }
}
