import Foundation
import HTTPTypes
import Hummingbird
import Proofs
import Synchronization

/// The named stores of a process that runs a local store, each made in memory by the first request to it with a key. Test suites that run
/// at the same time have a store each.
///
/// Without a key, a store that does not exist answers as a new one would, and is not made. So strangers take no places.
///
/// A request names a store by a prefix of its path, `/stores/NAME`, which any client's base address can have, or else by the header
/// `X-Till-Store`. A store ends with its deletion, after an hour without a request, or with the process.
final class NamedStores: RouterMiddleware {
    /// The routes of a new store, and the delivery of its notifications.
    typealias Parts = (responder: any HTTPResponder<ServiceContext>, sending: Companion)

    static let limit = 256
    /// The maximum length of a name in bytes, which are its characters.
    static let maximumNameLength = 64
    /// The time without a request after which a store is deleted, in seconds.
    static let unusedTime: Int64 = 3600
    private static let prefix = "/\(folder)/"
    private static let folder = "stores"

    private struct NamedStore {
        /// The identity of the store. A later one of the same name has another.
        let identifier: UUID
        let responder: any HTTPResponder<ServiceContext>
        let sending: Task<Void, any Error>
        var lastUse: Timestamp
    }

    /// The command that runs the process, such as `till store`.
    private let command: String
    private let clock: any WallClock
    private let hasKey: @Sendable (Request) async throws -> Bool
    private let make: @Sendable (_ path: String, _ delete: @escaping @Sendable () -> Void) throws -> Parts
    private let stores = Mutex<[String: NamedStore]>([:])
    /// The routes of a store that stays new, for all requests without a key. Nil before the first.
    private let newStore = Mutex<(any HTTPResponder<ServiceContext>)?>(nil)

    /// - Parameters:
    ///   - command: The command that runs the process, such as `till store`.
    ///   - clock: The machine's clock, for the time without a request.
    ///   - hasKey: Returns true for a request with the sandbox key or a developer's token, which may make a store.
    ///   - make: Makes a store. It receives the path below which it is reached, and the deletion of this store.
    init(
        of command: String,
        clock: any WallClock,
        hasKey: @escaping @Sendable (Request) async throws -> Bool,
        _ make: @escaping @Sendable (_ path: String, _ delete: @escaping @Sendable () -> Void) throws -> Parts
    ) {
        (self.command, self.clock, self.hasKey, self.make) = (command, clock, hasKey, make)
    }

    deinit {
        for store in stores.withLock({ Array($0.values) }) { store.sending.cancel() }
    }

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let (name, named) = Self.named(request) else { return try await next(request, context) }
        let responder: any HTTPResponder<ServiceContext>
        do {
            try Self.check(name)
            responder = try await self.responder(of: name, to: named)
        } catch {
            return try ProblemMiddleware.problem(of: error, context).response()
        }
        return try await responder.respond(to: named, context: context)
    }

    /// The name of the store that a request is for, and the request as that store sees it; nil for the main store.
    private static func named(_ request: Request) -> (name: String, request: Request)? {
        var head = request.head
        let name: String
        if let path = head.path, path.hasPrefix(prefix) {
            let rest = path.dropFirst(prefix.count)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            name = String(rest[..<end])
            head.path = (rest[end...].hasPrefix("/") ? "" : "/") + rest[end...]
        } else if let header = HTTPField.Name.store, let value = head.headerFields[header] {
            name = value
        } else {
            return nil
        }
        if let header = HTTPField.Name.store { head.headerFields[header] = nil }
        return (name, Request(head: head, body: request.body))
    }

    private static func check(_ name: String) throws(Problem) {
        guard name.utf8.count <= maximumNameLength, name.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]*/) != nil else {
            throw Problem(
                status: .badRequest, code: "storeNameInvalid",
                detail:
                    "The name of a store must be 1 to \(maximumNameLength) of the ASCII letters, digits, \"-\", \"_\" and "
                    + "\".\", with a letter or a digit first.")
        }
    }

    private func checkRoom(in stores: [String: NamedStore]) throws(Problem) {
        guard stores.count < Self.limit else {
            throw Problem(
                status: .conflict, code: "storeLimitReached",
                detail:
                    "This process has \(Self.limit) named stores. Delete one with DELETE /sandbox/v1/store, or restart `\(command)`.",
                couldSucceedLater: true)
        }
    }

    /// The routes of a store, which a request with a key makes if it does not exist.
    private func responder(of name: String, to request: Request) async throws -> any HTTPResponder<ServiceContext> {
        let now = clock.now()
        let known = stores.withLock { stores in
            Self.deleteUnused(in: &stores, at: now)
            stores[name]?.lastUse = now
            return stores[name]?.responder
        }
        if let known { return known }
        guard try await hasKey(request) else { return try await newStoreResponder() }
        try stores.withLock { try checkRoom(in: $0) }
        let identifier = UUID()
        // Other requests do not wait while the store is made.
        let parts = try await BlockingWork.run { [make] in
            try make("\(Self.folder)/\(name)") { [weak self] in self?.delete(name, identifier) }
        }
        return try stores.withLock { stores in
            // The first of several requests that made the store at the same time wins.
            if let known = stores[name]?.responder { return known }
            try checkRoom(in: stores)
            let sending = Task { try await parts.sending.run() }
            stores[name] = NamedStore(
                identifier: identifier, responder: parts.responder, sending: sending, lastUse: now)
            return parts.responder
        }
    }

    private func newStoreResponder() async throws -> any HTTPResponder<ServiceContext> {
        if let made = newStore.withLock({ $0 }) { return made }
        // No name is empty, so no store has its path. It sends nothing, because nothing is sold in it.
        let parts = try await BlockingWork.run { [make] in try make("\(Self.folder)/") {} }
        return newStore.withLock { newStore in
            let responder = newStore ?? parts.responder
            newStore = responder
            return responder
        }
    }

    /// Deletes a store, but no later one of the same name.
    private func delete(_ name: String, _ identifier: UUID) {
        stores.withLock { stores in
            guard let store = stores[name], store.identifier == identifier else { return }
            store.sending.cancel()
            stores[name] = nil
        }
    }

    private static func deleteUnused(in stores: inout [String: NamedStore], at now: Timestamp) {
        for (name, store) in stores where store.lastUse.adding(seconds: unusedTime) <= now {
            store.sending.cancel()
            stores[name] = nil
        }
    }
}

/// Refuses requests that name a store where there is only one, beside a service.
package struct NamedStoreRefusal: RouterMiddleware {
    /// The command that runs a process with named stores, such as `till store`.
    private let command: String

    package init(of command: String) { self.command = command }

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        if let header = HTTPField.Name.store, request.headers[header] != nil {
            throw Problem(
                status: .badRequest, code: "namedStoresUnavailable",
                detail:
                    "The store beside a service is the only one. Remove the header X-Till-Store, or run `\(command)`.")
        }
        return try await next(request, context)
    }
}
