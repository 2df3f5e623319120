import Hummingbird

/// What the service knows of a request besides the request itself.
public struct ServiceContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// nil until the caller is recognised.
    var caller: Caller?

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
    }
}
