import Features
import HTTPSupport
import HTTPTypes

/// The live rows of the store's pages: an event `change` after commits of the store.
struct StoreStreamRoutes: Sendable {
    let team: TeamService
    let streams: LiveStreams

    func add(to pages: ConsolePages) {
        pages.answer("store/stream", .store) { request, context in
            let isReconnected = HTTPField.Name.lastEventID.map { request.headers.contains($0) } ?? false
            let feed = ChangeFeed(streams, isReconnected: isReconnected)
            return try LiveResponse(streams: streams, team: team, context: context, permission: .store)
                .response(to: request) { feed.events() }
        }
    }
}
