import Catalog
import HTTPSupport
import Hummingbird

extension Picture {
    /// The picture as a response of the console, which an opened SVG cannot use: an uploaded one may have scripts.
    func response(to request: Request) -> Response {
        CacheableAnswer.response(
            bytes, type: format.mediaType, for: request,
            headers: [
                .cacheControl: "private, no-cache",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            ])
    }
}
