import Features

/// The page of all figures with their definitions.
struct FigureListPage {
    let environment: FigureQuery.Environment

    private static let groups: [(title: Phrase, figures: [Figure])] = [
        (
            Phrase("Sales", "판매"),
            [.revenue, .units, .transactions, .withoutPrice, .newCustomers]
        ),
        (Phrase("Refunds", "환불"), [.refunds, .refundedRevenue, .refundRate]),
        (
            Phrase("Subscriptions", "구독"),
            [.monthlyRevenue, .monthlyRevenueMovement, .activeSubscriptions, .subscriptionMovement, .renewals, .churn]
        ),
        (Phrase("Free trials", "무료 체험"), [.activeTrials, .newTrials, .conversions, .trialConversion]),
    ]

    var page: Page {
        Page(Phrase("Figures", "지표"), section: .overview) {
            for group in Self.groups {
                h2 { group.title }
                dl(.class("facts")) {
                    for figure in group.figures {
                        div {
                            dt { link(figure) }
                            dd { figure.explanation }
                        }
                    }
                }
            }
        }
    }

    private func link(_ figure: Figure) -> HTML {
        a(.href(ConsolePath("figures", figure.rawValue, query: ["environment": environment.rawValue]))) {
            figure.title
        }
    }
}
