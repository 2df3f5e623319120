import Commerce
import Hummingbird
import NIOCore
import Synchronization

/// What the service knows of a request besides the request itself.
public struct ServiceContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// Who is at the other end of the connection: a client, or a proxy.
    package let remoteAddress: SocketAddress?
    /// The limits shared by all requests; nil within a test that sets none.
    package var sharedLimits: SharedLimits?
    /// nil until the caller is recognised.
    package var caller: Caller? {
        didSet { if case .backEnd(let key, _, _) = caller { notes.key = key } }
    }
    /// What is learnt of the request further in, for whoever has sent it on its way.
    package let notes = RequestNotes()

    /// The app's user.
    ///
    /// - Throws: `Problem` on a route that is not for apps alone, which is a mistake of the service's own.
    package var requiredUser: User {
        get throws(Problem) {
            guard case .app(let user, _) = caller else { throw .unexpected }
            return user
        }
    }

    /// - Throws: `Problem` on a route that asks for no caller, which is a mistake of the service's own.
    package var requiredCaller: Caller {
        get throws(Problem) {
            guard let caller else { throw .unexpected }
            return caller
        }
    }

    /// The address that tells clients without a credential apart.
    package func clientAddress(of request: Request) -> String {
        (sharedLimits?.addresses ?? ClientAddresses(proxies: 0)).address(of: request, self)
    }

    /// A new share of the body budget; nil without a budget.
    package func bodyLease(of request: Request) -> BodyBudget.Lease? {
        switch caller {
        // One key serves all users of a team.
        case .backEnd: sharedLimits?.bodies.lease(for: nil)
        case .app: sharedLimits?.bodies.lease(for: caller?.name)
        case nil: sharedLimits?.bodies.lease(for: clientAddress(of: request))
        }
    }

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// What is learnt of a request while it is answered; shared by all copies of its context.
package final class RequestNotes: Sendable {
    private let notes = Mutex<(key: String?, code: String?)>((nil, nil))
    private let leases = Mutex<[BodyBudget.Lease]>([])

    /// The identifier of the API key the request came with; nil where there was none.
    package var key: String? {
        get { notes.withLock { $0.key } }
        set { notes.withLock { $0.key = newValue } }
    }

    /// Keeps the share of the body budget until the request has ended.
    package func hold(_ lease: BodyBudget.Lease?) {
        if let lease { leases.withLock { $0.append(lease) } }
    }

    /// The code of the problem it was answered with; nil where there was none.
    package var code: String? {
        get { notes.withLock { $0.code } }
        set { notes.withLock { $0.code = newValue } }
    }
}
