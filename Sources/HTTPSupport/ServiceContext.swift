import Hummingbird
import Ledger
import NIOCore
import Synchronization
import Vocabulary

/// The context of a request.
package struct ServiceContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The address of the peer: a client or a proxy.
    package let remoteAddress: SocketAddress?
    /// The authenticated caller. Nil before authentication.
    package var caller: Caller? {
        didSet { if let caller { notes.add(caller) } }
    }
    /// The notes of inner middleware and routes for outer middleware.
    package let notes = RequestNotes()

    /// The limits that all requests share. Nil in a test that sets none.
    package var sharedLimits: SharedLimits? { notes.sharedLimits }

    /// The app's user.
    ///
    /// - Throws: `Problem` if the route is not only for apps. This is a defect of the service.
    package var requiredUser: User {
        get throws(Problem) {
            guard case .app(let user, _) = caller else { throw .unexpected }
            return user
        }
    }

    /// - Throws: `Problem` if the route does not authenticate its callers. This is a defect of the service.
    package var requiredCaller: Caller {
        get throws(Problem) {
            guard let caller else { throw .unexpected }
            return caller
        }
    }

    /// The network by which clients without a credential are limited.
    package func clientNetwork(of request: Request) -> ClientNetwork {
        (sharedLimits?.addresses ?? ClientAddresses(proxies: 0)).network(of: request, self)
    }

    /// Returns a new share of the body budget, or nil if there is no budget.
    func bodyLease(of request: Request) -> BodyBudget.Lease? {
        guard let bodies = sharedLimits?.bodies else { return nil }
        let holder: BodyBudget.Caller =
            switch caller {
            // A back end's key serves all users of a team.
            case .backEnd: .init()
            // Anybody can sign up, as several users, too.
            case .app(let user, _) where user.issuer == User.accountIssuer:
                .init(user: caller?.name, network: clientNetwork(of: request))
            case .app: .init(user: caller?.name)
            case .publicApp, nil: .init(network: clientNetwork(of: request))
            }
        return BodyBudget.Lease(bodies, for: holder)
    }

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// The rest of the way of a request: further middleware, and its route.
package typealias NextHandler = (Request, ServiceContext) async throws -> Response

/// Notes about a request in progress. All copies of its context share them.
package final class RequestNotes: Sendable {
    private struct Notes {
        var key: String?
        var code: String?
        var isOfKnownCaller = false
        var sharedLimits: SharedLimits?
        var leases: [BodyBudget.Lease] = []
    }

    private let notes = Mutex(Notes())

    /// The identifier of the request's API key. Nil if it has none.
    package var key: String? { notes.withLock { $0.key } }

    /// True if the request has a secret credential.
    var isOfKnownCaller: Bool { notes.withLock { $0.isOfKnownCaller } }

    fileprivate func add(_ caller: Caller) {
        notes.withLock { notes in
            switch caller {
            case .backEnd(let key, _, _): (notes.key, notes.isOfKnownCaller) = (key, true)
            case .app: notes.isOfKnownCaller = true
            // Everyone with the app has its public key.
            case .publicApp(let key, _): notes.key = key
            }
        }
    }

    /// The limits that all requests share.
    var sharedLimits: SharedLimits? {
        get { notes.withLock { $0.sharedLimits } }
        set { notes.withLock { $0.sharedLimits = newValue } }
    }

    /// Holds the share of the body budget until the end of the request.
    package func hold(_ lease: BodyBudget.Lease?) {
        if let lease { notes.withLock { $0.leases.append(lease) } }
    }

    /// The code of the problem in the response. Nil if there is none.
    package var code: String? {
        get { notes.withLock { $0.code } }
        set { notes.withLock { $0.code = newValue } }
    }
}
