import Foundation
import GRDB
import HTTPSupport
import Proofs

/// An error of the endpoints about seats and groups. Apple publishes the names, but neither numbers nor messages.
package enum SeatError: ServerAPIRefusal, CaseIterable {
    case noAvailableSeats
    case seatClaimIdNotFound
    case appTransactionIdNotFound
    case transactionNotDevManagedGroup
    case groupIdNotFound

    /// The number of every error whose own number is not published.
    package var number: Int { ServerAPIError.generalBadRequest.number }

    package var message: String {
        switch self {
        case .noAvailableSeats: "No available seats."
        case .seatClaimIdNotFound: "Seat claim id not found."
        case .appTransactionIdNotFound: "App transaction id not found."
        case .transactionNotDevManagedGroup: "Transaction not dev managed group."
        case .groupIdNotFound: "Group id not found."
        }
    }
}

/// The SQL statements on claims of seats. They run inside the caller's transaction of the store's database.
struct SeatClaimRecords {
    let database: Database

    func add(_ identifier: String, request: String, appTransaction: String?, original: String) throws {
        try database.insert(
            [
                "seat_claim_id": identifier, "original_transaction_id": original, "request_id": request,
                "app_transaction_id": appTransaction,
            ], into: "seat_claim")
    }

    /// The claims of a subscription, the oldest first.
    func claims(original identifier: String) throws -> [String] {
        try SQLRequest<String>(
            "SELECT seat_claim_id FROM seat_claim WHERE original_transaction_id = \(identifier) ORDER BY rowid"
        ).fetchAll(database)
    }

    /// The claim that an earlier request has made; nil if there is none.
    func claim(ofRequest request: String, original identifier: String) throws -> String? {
        try SQLRequest<String>(
            """
            SELECT seat_claim_id FROM seat_claim
            WHERE original_transaction_id = \(identifier) AND request_id = \(request)
            """
        ).fetchOne(database)
    }

    /// - Returns: False if the subscription has no such claim.
    func remove(_ claim: String, original identifier: String) throws -> Bool {
        try database.execute(
            literal: "DELETE FROM seat_claim WHERE original_transaction_id = \(identifier) AND seat_claim_id = \(claim)"
        )
        return database.changesCount > 0
    }

    /// - Returns: False if the subscription has no such claim.
    func associate(_ claim: String, with appTransaction: String, original identifier: String) throws -> Bool {
        try database.execute(
            literal: """
                UPDATE seat_claim SET app_transaction_id = \(appTransaction)
                WHERE original_transaction_id = \(identifier) AND seat_claim_id = \(claim)
                """)
        return database.changesCount > 0
    }

    /// The app transactions of the customers who have a seat, in the order of the claims.
    func members(original identifier: String) throws -> [String] {
        try SQLRequest<String>(
            """
            SELECT app_transaction_id FROM seat_claim
            WHERE original_transaction_id = \(identifier) AND app_transaction_id IS NOT NULL
            GROUP BY app_transaction_id ORDER BY min(rowid)
            """
        ).fetchAll(database)
    }

    /// The subscriptions in which a customer has a seat, by their original transactions.
    func originals(ofMember appTransaction: String) throws -> [String] {
        try SQLRequest<String>(
            """
            SELECT original_transaction_id FROM seat_claim WHERE app_transaction_id = \(appTransaction)
            GROUP BY original_transaction_id ORDER BY min(rowid)
            """
        ).fetchAll(database)
    }
}

package struct GetSeatInfoResponse: Encodable, Sendable {
    let totalSeatCount: Int
    let availableSeatCount: Int
    let assignedSeatClaimIds: [String]
}

struct ClaimSeatRequest: Decodable, Sendable {
    let requestIdentifier: String?
    let appTransactionId: String?
}

struct AssociateSeatRequest: Decodable, Sendable {
    let appTransactionId: String?
}

/// The seats that the app's server claims for the members of a group (App Store Server API, `/groups/v1/transactions`).
extension Books {
    var seatClaims: SeatClaimRecords { SeatClaimRecords(database: database) }

    /// `GET /groups/v1/transactions/{originalTransactionId}/seats`
    func seatInfo(_ originalTransactionId: String) throws -> GetSeatInfoResponse {
        let seats = try seatCount(ofClaimed: originalTransactionId)
        let claims = try seatClaims.claims(original: originalTransactionId)
        return GetSeatInfoResponse(
            totalSeatCount: seats, availableSeatCount: max(0, seats - claims.count), assignedSeatClaimIds: claims)
    }

    /// `POST /groups/v1/transactions/{originalTransactionId}/seats`. A repeated request gets its first claim.
    ///
    /// - Returns: The identifier of the claim.
    func claimSeat(_ originalTransactionId: String, _ request: ClaimSeatRequest) throws -> String {
        let seats = try seatCount(ofClaimed: originalTransactionId)
        let missing = ServerAPIError.invalidRequestIdentifier
        guard let identifier = try request.requestIdentifier?.uuid(orThrow: missing) else { throw missing }
        let member = try request.appTransactionId.map(checkedAppTransaction)
        if let earlier = try seatClaims.claim(ofRequest: identifier, original: originalTransactionId) { return earlier }
        guard try seatClaims.claims(original: originalTransactionId).count < seats else {
            throw SeatError.noAvailableSeats
        }
        let claim = UUID(randomness: randomness).lowercasedString
        try seatClaims.add(claim, request: identifier, appTransaction: member, original: originalTransactionId)
        return claim
    }

    /// `DELETE /groups/v1/transactions/{originalTransactionId}/seats/{seatClaimId}`
    func unclaimSeat(_ seatClaimId: String, of originalTransactionId: String) throws {
        _ = try seatCount(ofClaimed: originalTransactionId)
        guard try seatClaims.remove(seatClaimId.lowercased(), original: originalTransactionId) else {
            throw SeatError.seatClaimIdNotFound
        }
    }

    /// `POST /groups/v1/transactions/{originalTransactionId}/seats/{seatClaimId}/associate`
    func associateSeat(
        _ seatClaimId: String,
        of originalTransactionId: String,
        _ request: AssociateSeatRequest
    ) throws {
        _ = try seatCount(ofClaimed: originalTransactionId)
        guard let given = request.appTransactionId else { throw ServerAPIError.generalBadRequest }
        let member = try checkedAppTransaction(given)
        guard try seatClaims.associate(seatClaimId.lowercased(), with: member, original: originalTransactionId) else {
            throw SeatError.seatClaimIdNotFound
        }
    }

    /// The number of seats of a subscription whose seats the app's server claims; 0 for one that has ended.
    ///
    /// - Throws: `ServerAPIError`, or `SeatError`, `transactionNotDevManagedGroup`.
    private func seatCount(ofClaimed originalTransactionId: String) throws -> Int {
        let original = try apiOriginalTransaction(originalTransactionId, orThrow: .originalTransactionIdNotFound)
        guard let subscription = try subscriptionOrNone(of: original),
            try transactions.latest(original: originalTransactionId)?.seats?.invitationManagement == .developer
        else { throw SeatError.transactionNotDevManagedGroup }
        return subscription.isEntitled ? subscription.quantity : 0
    }

    private func checkedAppTransaction(_ identifier: String) throws(SeatError) -> String {
        guard issuer.isAppTransactionIdentifier(identifier) else { throw .appTransactionIdNotFound }
        return identifier
    }

    /// Unclaims the latest claims of a subscription that has lost seats, and tells the app's server.
    func unclaimSeats(of subscription: CustomerSubscription) throws {
        let original = subscription.originalTransactionIdentifier
        let seats = subscription.state == .revoked ? 0 : subscription.quantity
        let lost = Array(try seatClaims.claims(original: original).dropFirst(seats))
        guard !lost.isEmpty else { return }
        for claim in lost { _ = try seatClaims.remove(claim, original: original) }
        try notify(
            .unclaimSeats, nil, .unclaimInfo,
            [
                "environment": issuer.environment.rawValue, "appAppleId": issuer.appAppleIdentifier,
                "bundleId": issuer.bundleIdentifier, "unclaimSeatIds": lost,
            ], transaction: try transactions.latest(original: original))
    }
}

package struct GetCustomerGroupsResponse: Encodable, Sendable {
    struct GroupEntry: Encodable, Sendable {
        let groupId: String
        let groupType: String
    }

    let groups: [GroupEntry]
}

package struct GetGroupMembersResponse: Encodable, Sendable {
    struct GroupMemberEntry: Encodable, Sendable {
        let appTransactionId: String
    }

    let members: [GroupMemberEntry]
    let hasMore: Bool
    let paginationToken: String?
}

/// The groups of customers: the purchaser of a subscription with seats, and the members with a seat by Apple's invitation or by a claim
/// of the app's server.
extension Books {
    /// The largest page of members, and the size of one without a limit. Apple publishes none.
    private static let pageSizes = 1...100

    /// `GET /groups/v1/currentGroups/{appTransactionId}`. The store has no organizations, so that no group has roles.
    func customerGroups(_ appTransactionId: String) throws -> GetCustomerGroupsResponse {
        let member = try checkedAppTransaction(appTransactionId)
        let account = try apiAccount(ofAny: member)
        let own = try account.map { try groups(of: $0) } ?? []
        let others = try seatClaims.originals(ofMember: member).filter { !own.contains($0) }
        return GetCustomerGroupsResponse(
            groups: try (own + others).filter { try group($0) != nil }.map {
                GetCustomerGroupsResponse.GroupEntry(groupId: $0, groupType: "CONSUMER")
            })
    }

    /// The subscriptions of an account, and those in which it has a seat by Apple's invitation, by their original transactions.
    private func groups(of account: String) throws -> [String] {
        try subscriptions.subscriptions(of: account).filter { !$0.hasEnded && $0.ownership != .familyShared }
            .map { $0.sharedOriginalTransactionIdentifier ?? $0.originalTransactionIdentifier }
    }

    /// `GET /groups/v1/group/{groupId}`. The purchaser is the first member.
    func groupMembers(_ groupId: String, limit: String?, paginationToken: String?) throws -> GetGroupMembersResponse {
        guard let purchase = try group(groupId) else { throw SeatError.groupIdNotFound }
        let size = limit.map { Int($0) ?? 0 } ?? Self.pageSizes.upperBound
        guard Self.pageSizes.contains(size) else { throw ServerAPIError.generalBadRequest }
        let purchaser = issuer.appTransactionIdentifier(of: purchase.account)
        let invited = try subscriptions.seats(of: groupId).map { issuer.appTransactionIdentifier(of: $0.account) }
        let members = [purchaser] + (try seatClaims.members(original: groupId).filter { $0 != purchaser }) + invited
        let start = paginationToken.map { Int($0) ?? -1 } ?? 0
        guard members.indices.contains(start) else { throw ServerAPIError.invalidPaginationToken }
        let end = min(start + size, members.count)
        return GetGroupMembersResponse(
            members: members[start..<end].map(GetGroupMembersResponse.GroupMemberEntry.init),
            hasMore: end < members.count, paginationToken: end < members.count ? String(end) : nil)
    }

    /// The subscription of a group; nil if it has ended, or has no seats.
    private func group(_ identifier: String) throws -> CustomerSubscription? {
        guard let subscription = try subscriptions.subscription(original: identifier), subscription.isEntitled,
            subscription.ownership == .purchased, try transactions.latest(original: identifier)?.seats != nil
        else { return nil }
        return subscription
    }
}
