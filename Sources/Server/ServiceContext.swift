import Hummingbird

/// What the service knows of a request besides the request itself.
public struct ServiceContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// nil until the caller is recognised.
    var caller: Caller?

    /// - Throws: `Problem` on a route that asks for no caller, which is a mistake of the service's own.
    var requiredCaller: Caller {
        get throws(Problem) {
            guard let caller else { throw .unexpected }
            return caller
        }
    }

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
    }
}
