//! Values of the classical evaluation, fitted to self-play games of network 12.
//!
//! Fitted by `tacet tune-eval` to the scores of these games more than to their results.
//! Recipe and matches: docs/notebook/networks.md

use super::{Halves, pair};

/// Bonus for the side to move, in centipawns.
pub(crate) const TEMPO: i32 = 16;

/// Each piece on each square.
#[rustfmt::skip]
pub(crate) const HALVES: Halves = [
    [ // Pawn
        pair(0, 0), pair(0, 0), pair(0, 0), pair(0, 0),
        pair(35, 181), pair(73, 205), pair(68, 208), pair(54, 202),
        pair(47, 177), pair(78, 192), pair(68, 182), pair(71, 184),
        pair(44, 182), pair(68, 199), pair(72, 182), pair(84, 175),
        pair(44, 219), pair(84, 227), pair(78, 211), pair(91, 200),
        pair(66, 305), pair(101, 341), pair(97, 313), pair(118, 290),
        pair(122, 436), pair(72, 501), pair(109, 472), pair(131, 432),
        pair(0, 0), pair(0, 0), pair(0, 0), pair(0, 0),
    ],
    [ // Knight
        pair(243, 432), pair(261, 422), pair(264, 464), pair(263, 470),
        pair(268, 450), pair(267, 476), pair(282, 483), pair(276, 495),
        pair(267, 463), pair(290, 491), pair(285, 505), pair(292, 523),
        pair(283, 481), pair(300, 510), pair(299, 541), pair(296, 541),
        pair(318, 490), pair(299, 537), pair(319, 544), pair(312, 552),
        pair(310, 475), pair(343, 507), pair(333, 524), pair(360, 520),
        pair(293, 439), pair(277, 482), pair(338, 484), pair(335, 495),
        pair(184, 375), pair(176, 469), pair(174, 502), pair(284, 476),
    ],
    [ // Bishop
        pair(298, 514), pair(300, 509), pair(294, 481), pair(293, 502),
        pair(319, 505), pair(318, 519), pair(308, 523), pair(311, 519),
        pair(314, 518), pair(319, 536), pair(318, 547), pair(312, 551),
        pair(317, 496), pair(317, 526), pair(317, 549), pair(330, 557),
        pair(321, 507), pair(318, 554), pair(336, 546), pair(337, 561),
        pair(334, 514), pair(346, 530), pair(342, 549), pair(354, 535),
        pair(304, 489), pair(319, 529), pair(317, 523), pair(307, 521),
        pair(318, 482), pair(260, 531), pair(190, 532), pair(205, 536),
    ],
    [ // Rook
        pair(336, 860), pair(344, 889), pair(352, 884), pair(371, 878),
        pair(319, 874), pair(330, 883), pair(337, 887), pair(341, 885),
        pair(325, 885), pair(343, 890), pair(334, 896), pair(340, 894),
        pair(329, 912), pair(340, 909), pair(343, 911), pair(349, 905),
        pair(351, 917), pair(363, 919), pair(372, 919), pair(377, 915),
        pair(368, 924), pair(406, 913), pair(401, 914), pair(427, 907),
        pair(402, 919), pair(398, 918), pair(436, 912), pair(445, 915),
        pair(434, 910), pair(434, 913), pair(443, 905), pair(452, 904),
    ],
    [ // Queen
        pair(1037, 1459), pair(1032, 1453), pair(1025, 1432), pair(1030, 1432),
        pair(1033, 1450), pair(1038, 1445), pair(1039, 1460), pair(1032, 1468),
        pair(1028, 1492), pair(1036, 1492), pair(1026, 1529), pair(1019, 1520),
        pair(1033, 1515), pair(1032, 1537), pair(1025, 1550), pair(1023, 1563),
        pair(1048, 1526), pair(1034, 1561), pair(1036, 1577), pair(1035, 1589),
        pair(1062, 1519), pair(1068, 1555), pair(1046, 1595), pair(1066, 1579),
        pair(1056, 1507), pair(1030, 1558), pair(1058, 1566), pair(1048, 1583),
        pair(1060, 1508), pair(1082, 1506), pair(1105, 1505), pair(1118, 1508),
    ],
    [ // King
        pair(29, -35), pair(26, -20), pair(-20, -35), pair(-17, -72),
        pair(8, -1), pair(-21, 13), pair(-52, 18), pair(-69, 12),
        pair(-70, 22), pair(-78, 36), pair(-121, 55), pair(-130, 53),
        pair(-136, 50), pair(-146, 76), pair(-157, 85), pair(-180, 82),
        pair(-114, 72), pair(-95, 94), pair(-123, 106), pair(-126, 91),
        pair(-49, 73), pair(-154, 171), pair(-144, 143), pair(-130, 116),
        pair(74, -7), pair(-160, 178), pair(-100, 137), pair(-51, 96),
        pair(293, -163), pair(6, 92), pair(-36, 110), pair(-25, 72),
    ],
];
